#pragma once
#include <distribute/base/detail/simd_math.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/attention_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace distribute::ops_internal {

inline constexpr float kNoSum = std::numeric_limits<float>::infinity();
inline constexpr int64_t kProductRows = 128;  // queries whose scores are in memory at once

/// Copies rows, as oneDNN has its fastest kernels only for adjacent ones.
DISTRIBUTE_INLINE void copy_rows(const HalfRows& from, int64_t count, int64_t columns,
                                 const HalfRows& to) {
  for (int64_t r = 0; r < count; ++r)
    std::memcpy(to.data + r * to.step * 2, from.data + r * from.step * 2, size_t(columns * 2));
}

DISTRIBUTE_INLINE HalfRows packed(const HalfRows& from, int64_t count, int64_t columns,
                                  GrowingRoom<char>& room) {
  const HalfRows to{room.fit(count * columns * 2), columns};
  copy_rows(from, count, columns, to);
  return to;
}

DISTRIBUTE_INLINE HalfHead packed(const HalfHead& head, HalfAttentionRoom& room) {
  const AttentionHead& h = head.frame;
  return {h, head.dtype, packed(head.q, h.queries, h.depth, room.q),
          packed(head.k, h.keys, h.depth, room.k), packed(head.v, h.keys, h.width, room.v)};
}

/// The scores of some queries and all keys that they may attend to, and the products with them.
struct ScoreBlock {
  const HalfHead& head;
  int64_t first, rows, keys, step;  // the scores' rows lie `step` apart

  ScoreBlock(const HalfHead& of, int64_t begin, int64_t end) : head(of), first(begin) {
    const AttentionHead& h = of.frame;
    rows = std::min(end - begin, kProductRows);
    const bool masked = h.query_mask || h.key_mask || h.mask;
    keys = h.is_causal && !masked ? std::min(h.keys, first + rows) : h.keys;
    step = (keys + 15) / 16 * 16;
  }
  char* row_of(const HalfRows& all, int64_t row) const { return all.data + row * all.step * 2; }
  char* own_rows(const HalfRows& all) const { return row_of(all, first); }
  /// Computes c = a b^T for rows of queries and of keys.
  void scores(const HalfRows& a, const HalfRows& b, int64_t inner, float* c) const {
    cpu_multiply_block({head.dtype, rows, keys, inner, a.step, b.step, step, false, true, true},
                       own_rows(a), b.data, c);
  }
  /// Computes c = w b, for weights of all pairs and rows of keys.
  void sum_keys(const char* w, const HalfRows& b, int64_t columns, GrowingRoom<char>& room,
                const HalfRows& c) const {
    const HalfRows sums{room.fit(rows * columns * 2), columns};
    cpu_multiply_block({head.dtype, rows, columns, keys, step, b.step, columns}, w, b.data,
                       sums.data);
    copy_rows(sums, rows, columns, {own_rows(c), c.step});
  }
  /// Computes c += w^T b, for rows of queries.
  void add_queries(const char* w, const HalfRows& b, int64_t columns, float* c) const {
    cpu_multiply_block(
        {head.dtype, keys, columns, rows, step, b.step, columns, true, false, true, true}, w,
        own_rows(b), c);
  }
  int64_t finish(int64_t row, float* s) const;
};

DISTRIBUTE_ALWAYS_INLINE inline void multiply_by(float* s, int64_t count, float factor) {
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) s[j] *= factor;
}

/// Scales a row of products. Forbidden ones become -infinity; returns the number of those at its
/// beginning that may be allowed.
DISTRIBUTE_INLINE int64_t ScoreBlock::finish(int64_t row, float* s) const {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  const AttentionHead& h = head.frame;
  const int64_t i = first + row;
  if (h.query_mask && !h.query_mask[i]) return 0;
  const int64_t count = h.is_causal ? std::min(keys, i + 1) : keys;
  simd_call([=, scale = h.scale]() DISTRIBUTE_ALWAYS_INLINE { multiply_by(s, count, scale); });
  for (int64_t j = 0; h.key_mask && j < count; ++j)
    if (!h.key_mask[j]) s[j] = kForbidden;
  for (int64_t j = 0; h.mask && j < count; ++j)
    if (!h.mask[i * h.keys + j]) s[j] = kForbidden;
  return count;
}

/// Returns the largest score, at least the lowest finite number; NaN if the first one is NaN.
DISTRIBUTE_ALWAYS_INLINE inline float largest_score(const float* s, int64_t count) {
  constexpr float kLeast = -std::numeric_limits<float>::max();
  float most = s[0] < kLeast ? kLeast : s[0];
#pragma omp simd reduction(max : most)
  for (int64_t j = 0; j < count; ++j) most = s[j] > most ? s[j] : most;
  return most;
}

/// Computes s = exp(s - shift), with zeros from `count` to `end`, and returns the sum. Numbers
/// whose exponential is nearly 0 become 0: the vector function is slow for -infinity.
DISTRIBUTE_ALWAYS_INLINE inline float exponents_of(float* s, int64_t count, int64_t end,
                                                   float shift) {
  constexpr float kLeast = -80, kNothing = 2e-35f;  // a little more than exp(kLeast)
  const int64_t whole = std::min(end, (count + 15) / 16 * 16);
  for (int64_t j = count; j < whole; ++j) s[j] = -std::numeric_limits<float>::infinity();
#pragma omp simd
  for (int64_t j = 0; j < whole; ++j) s[j] = s[j] - shift < kLeast ? kLeast : s[j] - shift;
#pragma omp simd
  for (int64_t j = 0; j < whole; ++j) s[j] = simd_math::exp(s[j]);
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < whole; ++j) {
    s[j] = s[j] < kNothing ? 0.0f : s[j];
    total += s[j];
  }
  for (int64_t j = whole; j < end; ++j) s[j] = 0;
  return total;
}

/// Replaces the products of a query by its probabilities; returns the logarithm of their sum.
DISTRIBUTE_INLINE float probabilities_of(const ScoreBlock& block, int64_t row, float* s) {
  const int64_t count = block.finish(row, s), end = block.step;
  float log_sum = kNoSum;
  simd_call([=, &log_sum]() DISTRIBUTE_ALWAYS_INLINE {
    const float most = count > 0 ? largest_score(s, count) : 0;
    const float total = exponents_of(s, count, end, most);
    if (total == 0) return;  // all pairs are forbidden
    multiply_by(s, end, 1 / total);
    log_sum = most + std::log(total);
  });
  if (log_sum == kNoSum) std::fill_n(s, end, 1 / float(block.head.frame.keys));
  return log_sum;
}

/// Converts rows of float32 to matrices of 16-bit floats.
DISTRIBUTE_INLINE void round_rows(DType dtype, const float* from, int64_t rows, int64_t columns,
                                  const HalfRows& to) {
  for (int64_t r = 0; r < rows; ++r)
    convert_elements(from + r * columns, DType::Float32, to.data + r * to.step * 2, dtype, columns);
}

DISTRIBUTE_INLINE void attend(const HalfHead& given, int64_t begin, int64_t end,
                              HalfAttentionRoom& room, const HalfRows& out, float* log_sums) {
  const AttentionHead& h = given.frame;
  const HalfHead head = packed(given, room);
  for (int64_t first = begin; first < end; first += kProductRows) {
    const ScoreBlock block(head, first, end);
    float* scores = room.p.fit(block.rows * block.step);
    char* rounded = room.half_p.fit(block.rows * block.step * 2);
    block.scores(head.q, head.k, h.depth, scores);
    for (int64_t r = 0; r < block.rows; ++r)
      log_sums[first + r] = probabilities_of(block, r, scores + r * block.step);
    round_rows(head.dtype, scores, block.rows, block.step, {rounded, block.step});
    block.sum_keys(rounded, head.v, h.width, room.products, out);
  }
}

DISTRIBUTE_ALWAYS_INLINE inline float sum_of_pairs(const float* a, const float* b, int64_t count) {
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < count; ++j) total += a[j] * b[j];
  return total;
}

/// Computes the probabilities again, into `p`, and replaces their gradients by those of the scores.
DISTRIBUTE_INLINE void score_gradients(const ScoreBlock& block, const HalfResult& result,
                                       HalfAttentionRoom& room, float* all_p, float* all_ds) {
  const int64_t width = block.head.frame.width, end = block.step;
  const float scale = block.head.frame.scale;
  float *o = room.out_row.fit(width), *d = room.d_out_row.fit(width);
  for (int64_t r = 0; r < block.rows; ++r) {
    const auto widen = [&](const HalfRows& from, float* to) {
      convert_elements(block.row_of(from, block.first + r), block.head.dtype, to, DType::Float32,
                       width);
    };
    widen(result.out, o);
    widen(result.d_out, d);
    float *p = all_p + r * end, *ds = all_ds + r * end;
    const float log_sum = result.log_sums[block.first + r];
    if (log_sum == kNoSum) {
      std::fill_n(p, end, 1 / float(block.head.frame.keys));
      std::fill_n(ds, end, 0.0f);
      continue;
    }
    const int64_t count = block.finish(r, p);
    std::fill(ds + block.keys, ds + end, 0.0f);  // no product has written there
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
      exponents_of(p, count, end, log_sum);
      const float shift = sum_of_pairs(o, d, width);
#pragma omp simd
      for (int64_t j = 0; j < end; ++j) ds[j] = p[j] * (ds[j] - shift) * scale;
    });
  }
}

DISTRIBUTE_INLINE void attend_backwards(const HalfHead& given, const HalfResult& forward,
                                        HalfAttentionRoom& room, const HalfRows& dq,
                                        const HalfRows& dk, const HalfRows& dv) {
  const AttentionHead& h = given.frame;
  const HalfHead head = packed(given, room);
  const HalfResult result{forward.out, packed(forward.d_out, h.queries, h.width, room.d_out),
                          forward.log_sums};
  float *sums_k = room.sums_k.fit(h.keys * h.depth), *sums_v = room.sums_v.fit(h.keys * h.width);
  std::fill_n(sums_k, h.keys * h.depth, 0.0f);
  std::fill_n(sums_v, h.keys * h.width, 0.0f);
  for (int64_t first = 0; first < h.queries; first += kProductRows) {
    const ScoreBlock block(head, first, h.queries);
    const int64_t count = block.rows * block.step;
    float *p = room.p.fit(count), *ds = room.ds.fit(count);
    char *half_p = room.half_p.fit(count * 2), *half_ds = room.half_ds.fit(count * 2);
    block.scores(head.q, head.k, h.depth, p);
    block.scores(result.d_out, head.v, h.width, ds);
    score_gradients(block, result, room, p, ds);
    round_rows(head.dtype, p, block.rows, block.step, {half_p, block.step});
    round_rows(head.dtype, ds, block.rows, block.step, {half_ds, block.step});
    block.add_queries(half_p, result.d_out, h.width, sums_v);
    block.add_queries(half_ds, head.q, h.depth, sums_k);
    block.sum_keys(half_ds, head.k, h.depth, room.products, dq);
  }
  round_rows(head.dtype, sums_k, h.keys, h.depth, dk);
  round_rows(head.dtype, sums_v, h.keys, h.width, dv);
}

}  // namespace distribute::ops_internal
