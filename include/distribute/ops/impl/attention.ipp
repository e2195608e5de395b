#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/attention_blocks.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <cmath>

namespace distribute {

namespace ops_internal {

/// The number of keys that exist.
DISTRIBUTE_INLINE int64_t keys_of(const Tensor& k, const nn::AttentionOptions& options) {
  return options.key_value_seq_length ? options.key_value_seq_length : k.shape()[1];
}

DISTRIBUTE_INLINE void check_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const nn::AttentionOptions& options) {
  const Shape &a = q.shape(), &b = k.shape(), &c = v.shape();
  const bool fits = a.rank() == 4 && b.rank() == 4 && c.rank() == 4 && a[0] == b[0] && b[2] > 0 &&
                    a[2] % b[2] == 0 && a[3] == b[3] && b.with(3, c[3]) == c && b[1] > 0;
  if (!fits || !is_floating(q.dtype()) || q.dtype() != k.dtype() || q.dtype() != v.dtype())
    throw InvalidArgumentError(
        str_cat("dot_product_attention: wants floats [batch, steps, heads, depth] that fit, got ",
                "query ", to_string(a), " ", name_of(q.dtype()), ", key ", to_string(b), " ",
                name_of(k.dtype()), ", value ", to_string(c), " ", name_of(v.dtype())));
  const int64_t keys = keys_of(k, options);
  if (keys < 1 || keys > b[1])
    throw InvalidArgumentError(
        str_cat("dot_product_attention: key_value_seq_length is ", keys, ", of ", b[1], " keys"));
  const auto want = [](const char* what, const Tensor& mask, const Shape& shape) {
    if (mask && (mask.shape() != shape || mask.dtype() != DType::Bool))
      throw InvalidArgumentError(str_cat("dot_product_attention: ", what, " is ",
                                         name_of(mask.dtype()), " ", to_string(mask.shape()),
                                         ", wanted bool ", to_string(shape)));
  };
  want("the query mask", options.query_mask, {a[0], a[1]});
  want("the key mask", options.key_mask, {a[0], b[1]});
  const bool shared =
      options.mask && options.mask.shape().rank() == 3 && options.mask.shape()[0] == 1;
  want("the mask", options.mask, {shared ? 1 : a[0], a[1], keys});
}

/// Returns what all masks allow, bool [batch or 1, 1, queries or 1, keys or 1]; empty if there is
/// no mask.
DISTRIBUTE_INLINE Tensor joined_masks(const Tensor& q, const Tensor& k,
                                      const nn::AttentionOptions& options) {
  const int64_t queries = q.shape()[1], keys = k.shape()[1];
  Tensor all;
  const auto join = [&](const Tensor& mask) { all = all ? logical_and(all, mask) : mask; };
  if (options.query_mask) join(expand_dims(expand_dims(options.query_mask, -1), 1));
  if (options.key_mask) join(expand_dims(expand_dims(options.key_mask, 1), 1));
  if (options.mask) join(expand_dims(options.mask, 1));
  if (options.is_causal) {
    Tensor causal = Tensor::empty({1, 1, queries, keys}, DType::Bool, Device{});
    bool* out = causal.mutable_data<bool>();
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t j = 0; j < keys; ++j) out[i * keys + j] = j <= i;
    join(causal.to(q.device()));
  }
  return all;
}

DISTRIBUTE_INLINE Tensor attention_probabilities(const Tensor& q, const Tensor& k,
                                                 const nn::AttentionOptions& options,
                                                 double scale) {
  const auto by_head = [](const Tensor& t) { return transpose(t, {0, 2, 1, 3}); };
  Tensor scores = matmul(by_head(q * scale), by_head(k), {.transpose_b = true});
  const Tensor mask = joined_masks(q, k, options);
  if (mask)
    scores = where(mask, scores,
                   scalar_like(scores, scores.dtype() == DType::Float16 ? -4.5e4 : -2.37e38));
  const Tensor probabilities = nn::softmax(scores);
  if (!mask || !options.zeros_without_keys) return probabilities;
  return where(mask, probabilities, scalar_like(probabilities, 0));
}

DISTRIBUTE_INLINE Tensor weighted_values(Tensor probabilities, const Tensor& v,
                                         const nn::AttentionOptions& options) {
  if (options.dropout > 0)
    probabilities = nn::dropout(
        probabilities, float(options.dropout), options.seed,
        options.counter ? options.counter : [] { return uint64_t{0}; });
  return transpose(matmul(probabilities, transpose(v, {0, 2, 1, 3})), {0, 2, 1, 3});
}

/// Computes attention by operations that have gradients, with all scores in memory at once.
DISTRIBUTE_INLINE Tensor attention_of_operations(const Tensor& q, const Tensor& k, const Tensor& v,
                                                 const nn::AttentionOptions& options,
                                                 double scale) {
  return weighted_values(attention_probabilities(q, k, options, scale), v, options);
}

/// Attention of all heads of all examples, block by block.
struct BlockAttention {
  Tensor q, k, v;  // row-major; float32, or of 16 bits for the functions whose names say so
  nn::AttentionOptions options;
  float scale;
  Tensor out = {}, log_sums = {};  // log_sums [batch, heads, queries]

  int64_t batch() const { return q.shape()[0]; }
  int64_t queries() const { return q.shape()[1]; }
  int64_t heads() const { return q.shape()[2]; }
  int64_t keys() const { return keys_of(k, options); }
  /// Returns sizes and masks of a head.
  AttentionHead frame(int64_t example) const;
  AttentionHead head(int64_t example, int64_t number) const;
  /// Returns where a head's rows begin in a tensor [batch, steps, heads, size], which may have
  /// fewer heads than the query.
  int64_t first_row(const Shape& s, int64_t example, int64_t number) const {
    return (example * s[1] * s[2] + number * s[2] / heads()) * s[3];
  }
  HeadRows rows(const Tensor& t, int64_t example, int64_t number) const {
    const Shape& s = t.shape();
    return {t.data<float>().data() + first_row(s, example, number), s[2] * s[3]};
  }
  OwnHeadRows own_rows(Tensor& t, int64_t example, int64_t number) const {
    const Shape& s = t.shape();
    return {t.mutable_data<float>() + first_row(s, example, number), s[2] * s[3]};
  }
  void run();
  /// Calls part(pair of example and head, first query, last query, room) on all threads, each with
  /// its own Room.
  template <typename Room, typename Part>
  void for_parts(const Part& part) const;
  HalfRows half_rows(const Tensor& t, int64_t pair) const {
    const Shape& s = t.shape();
    return {t.array().bytes() + first_row(s, pair / heads(), pair % heads()) * 2, s[2] * s[3]};
  }
  HalfHead half_head(int64_t pair) const {
    return {frame(pair / heads()), q.dtype(), half_rows(q, pair), half_rows(k, pair),
            half_rows(v, pair)};
  }
  void run_half();
  std::vector<Tensor> half_gradients(const Tensor& d_out) const;
  /// Writes zeros to the rows of [batch, queries, heads, width] whose query may attend to no key.
  void clear_rows_without_keys(Tensor& t) const;
  std::vector<Tensor> gradients(const Tensor& d_out) const;
};

DISTRIBUTE_INLINE AttentionHead BlockAttention::frame(int64_t example) const {
  AttentionHead h{queries(), keys(), q.shape()[3], v.shape()[3], scale, options.is_causal};
  const auto part = [&](const Tensor& mask, int64_t size) {
    if (!mask) return static_cast<const bool*>(nullptr);
    return mask.data<bool>().data() + (mask.shape()[0] == 1 ? 0 : example * size);
  };
  h.query_mask = part(options.query_mask, queries());
  h.key_mask = part(options.key_mask, k.shape()[1]);
  h.mask = part(options.mask, queries() * keys());
  return h;
}

DISTRIBUTE_INLINE AttentionHead BlockAttention::head(int64_t example, int64_t number) const {
  AttentionHead h = frame(example);
  h.q = rows(q, example, number);
  h.k = rows(k, example, number);
  h.v = rows(v, example, number);
  return h;
}

template <typename Room, typename Part>
void BlockAttention::for_parts(const Part& part) const {
  constexpr int64_t kPart = 4 * kQueryBlock;
  const int64_t parts = (queries() + kPart - 1) / kPart;
  parallel_for(batch() * heads() * parts, 1, [&](int64_t begin, int64_t end) {
    Room room;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * kPart;
      part(i / parts, first, std::min(queries(), first + kPart), room);
    }
  });
}

DISTRIBUTE_INLINE void BlockAttention::run() {
  out = Tensor::empty({batch(), queries(), heads(), v.shape()[3]}, DType::Float32, q.device());
  log_sums = Tensor::empty({batch(), heads(), queries()}, DType::Float32, q.device());
  float* sums = log_sums.mutable_data<float>();
  out.mutable_data<float>();
  struct NoRoom {};
  for_parts<NoRoom>([&](int64_t pair, int64_t first, int64_t last, NoRoom&) {
    const int64_t example = pair / heads(), number = pair % heads();
    attend(head(example, number), first, last, own_rows(out, example, number),
           sums + pair * queries());
  });
}

DISTRIBUTE_INLINE void BlockAttention::run_half() {
  out = Tensor::empty({batch(), queries(), heads(), v.shape()[3]}, q.dtype(), q.device());
  log_sums = Tensor::empty({batch(), heads(), queries()}, DType::Float32, q.device());
  float* sums = log_sums.mutable_data<float>();
  using Room = HalfAttentionRoom;
  for_parts<Room>([&](int64_t pair, int64_t first, int64_t last, Room& room) {
    attend(half_head(pair), first, last, room, half_rows(out, pair), sums + pair * queries());
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> BlockAttention::half_gradients(const Tensor& d_out) const {
  const auto like = [](const Tensor& t) { return Tensor::empty(t.shape(), t.dtype(), t.device()); };
  const Tensor dq = like(q), dk = like(k), dv = like(v);
  parallel_for(batch() * heads(), 1, [&](int64_t begin, int64_t end) {
    HalfAttentionRoom room;
    for (int64_t pair = begin; pair < end; ++pair)
      attend_backwards(half_head(pair),
                       {half_rows(out, pair), half_rows(d_out, pair),
                        log_sums.data<float>().data() + pair * queries()},
                       room, half_rows(dq, pair), half_rows(dk, pair), half_rows(dv, pair));
  });
  return {dq, dk, dv};
}

DISTRIBUTE_INLINE void BlockAttention::clear_rows_without_keys(Tensor& t) const {
  const float* sums = log_sums.data<float>().data();
  for (int64_t i = 0; i < log_sums.num_elements(); ++i)
    if (std::isinf(sums[i])) {
      const int64_t pair = i / queries();
      const OwnHeadRows all = own_rows(t, pair / heads(), pair % heads());
      std::fill_n(all.data + i % queries() * all.step, t.shape()[3], 0.0f);
    }
}

DISTRIBUTE_INLINE std::vector<Tensor> BlockAttention::gradients(const Tensor& d_out) const {
  const auto like = [](const Tensor& t) {
    return Tensor::empty(t.shape(), DType::Float32, t.device());
  };
  Tensor dq = like(q), dk = like(k), dv = like(v);
  dk.mutable_data<float>(), dv.mutable_data<float>();
  const int64_t pairs = batch() * heads(), depth = q.shape()[3], size = queries() * depth;
  // With few heads the keys are divided, and each part has its own sum for the queries.
  constexpr int64_t kFew = 8, kMostParts = 4;
  const int64_t blocks = (keys() + kKeyBlock - 1) / kKeyBlock;
  const int64_t parts = pairs < kFew ? std::min(kMostParts, blocks) : 1;
  std::vector<float> sums(size_t(pairs < kFew ? pairs * parts * size : 0));
  dq.mutable_data<float>();
  const auto add_to_queries = [&](int64_t pair, const float* from, bool add) {
    const OwnHeadRows rows = own_rows(dq, pair / heads(), pair % heads());
    for (int64_t i = 0; i < queries(); ++i)
      for (int64_t j = 0; j < depth; ++j) {
        float& to = rows.data[i * rows.step + j];
        to = (add ? to : 0.0f) + from[i * depth + j];
      }
  };
  parallel_for(pairs * parts, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> own(size_t(sums.empty() ? size : 0));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t pair = i / parts, example = pair / heads(), number = pair % heads();
      const int64_t first = blocks * (i % parts) / parts, last = blocks * (i % parts + 1) / parts;
      if (sums.empty()) std::fill(own.begin(), own.end(), 0.0f);
      float* mine = sums.empty() ? own.data() : sums.data() + i * size;
      attend_backwards(head(example, number),
                       {rows(out, example, number), rows(d_out, example, number),
                        log_sums.data<float>().data() + pair * queries()},
                       first * kKeyBlock, std::min(keys(), last * kKeyBlock), mine,
                       own_rows(dk, example, number), own_rows(dv, example, number));
      if (sums.empty()) add_to_queries(pair, mine, false);
    }
  });
  if (!sums.empty())
    for (int64_t i = 0; i < pairs * parts; ++i)
      add_to_queries(i / parts, sums.data() + i * size, i % parts > 0);
  return {dq, dk, dv};
}

/// Whether the CPU multiplies these 16-bit operands without conversion. Few heads are converted to
/// float32, as their keys are divided between the threads.
DISTRIBUTE_INLINE bool attends_half(const Tensor& q, const Tensor& v,
                                    const nn::AttentionOptions& options) {
  constexpr int64_t kFew = 8;
  const Shape& s = q.shape();
  return is_half(q.dtype()) && backend(DeviceType::Cpu).multiplies(q.dtype()) &&
         !options.zeros_without_keys && s[0] * s[2] >= kFew && q.num_elements() > 0 &&
         v.num_elements() > 0;
}

DISTRIBUTE_INLINE Tensor attention_by_blocks(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const nn::AttentionOptions& options, double scale) {
  const auto host = [](const Tensor& t) { return t ? t.row_major() : t; };
  BlockAttention pass{host(q), host(k), host(v), options, float(scale)};
  pass.options.query_mask = host(options.query_mask);
  pass.options.key_mask = host(options.key_mask);
  pass.options.mask = host(options.mask);
  if (is_half(q.dtype())) {
    pass.run_half();
    return record("attention", {q, k, v}, pass.out, [pass](const Backward& backward) {
      const Tensor d_out = backward.gradient().row_major();
      return final_gradients("attention gradient", {pass.q, pass.k, pass.v, d_out},
                             pass.half_gradients(d_out));
    });
  }
  pass.run();
  if (options.zeros_without_keys) pass.clear_rows_without_keys(pass.out);
  return record("attention", {q, k, v}, pass.out, [pass](const Backward& backward) {
    Tensor d_out = backward.gradient().row_major();
    if (pass.options.zeros_without_keys) pass.clear_rows_without_keys(d_out);
    return final_gradients("attention gradient", {pass.q, pass.k, pass.v, d_out},
                           pass.gradients(d_out));
  });
}

/// Cuts off the keys that do not exist, and repeats heads that are shared, for what computes with
/// whole tensors only: GPUs, gradients, and CPUs that convert their operands.
DISTRIBUTE_INLINE bool wants_whole(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const nn::AttentionOptions& options) {
  const bool cut = options.key_value_seq_length || k.shape()[2] != q.shape()[2];
  const bool by_blocks = q.dtype() == DType::Float32 || attends_half(q, v, options);
  return cut && (autograd_internal::is_taping() || autograd_internal::is_tracing() || on_gpu(k) ||
                 options.dropout != 0 || !by_blocks);
}

DISTRIBUTE_INLINE Tensor whole_attention(const Tensor& q, const Tensor& key, const Tensor& value,
                                         nn::AttentionOptions options) {
  const int64_t count = keys_of(key, options), share = q.shape()[2] / key.shape()[2];
  const auto whole = [&](Tensor t) {
    if (count < t.shape()[1]) t = slice(t, {0, 0, 0, 0}, {-1, count, -1, -1});
    return share == 1 ? t : repeat(t, share, 2);
  };
  if (options.key_mask && count < key.shape()[1])
    options.key_mask = slice(options.key_mask, {0, 0}, {-1, count});
  options.key_value_seq_length = 0;
  return nn::dot_product_attention(q, whole(key), whole(value), options);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor nn::dot_product_attention(const Tensor& query, const Tensor& key,
                                                   const Tensor& value,
                                                   const AttentionOptions& options) {
  using namespace ops_internal;
  check_attention(query, key, value, options);
  if (wants_whole(query, key, value, options)) return whole_attention(query, key, value, options);
  const double scale = options.scale.value_or(1 / std::sqrt(double(query.shape()[3])));
  const auto of_operations = [&] {
    return attention_of_operations(query, key, value, options, scale);
  };
  if (autograd_internal::is_tracing()) return of_operations();  // which files can have
  if (on_gpu(query) || on_gpu(key) || on_gpu(value)) {
    const auto done = cudnn_attend(query, key, value, options, scale);
    return done ? *done : of_operations();
  }
  if (options.dropout != 0) return of_operations();
  if (attends_half(query, value, options))
    return attention_by_blocks(query, key, value, options, scale);
  const auto wide = [](const Tensor& t) { return cast(t, DType::Float32); };
  return cast(attention_by_blocks(wide(query), wide(key), wide(value), options, scale),
              query.dtype());
}

}  // namespace distribute
