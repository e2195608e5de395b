#pragma once
/// Attention on the CPU, block by block: one head of one example.

#include <distribute/base/config.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace distribute::ops_internal {

/// The two steps of attention by operations that have gradients, with all scores in memory at once.
/// Shapes  q and k as for dot_product_attention() -> probabilities [batch, heads, queries, keys];
///         those and v -> [batch, queries, heads, width].
Tensor attention_probabilities(const Tensor& q, const Tensor& k,
                               const nn::AttentionOptions& options, double scale);
Tensor weighted_values(Tensor probabilities, const Tensor& v, const nn::AttentionOptions& options);

/// Rows of numbers whose beginnings are `step` apart.
struct HeadRows {
  const float* data = nullptr;
  int64_t step = 0;
};
struct OwnHeadRows {
  float* data = nullptr;
  int64_t step = 0;
};

/// Operands of one head. Masks have an entry for each query, key, or pair; null allows all.
struct AttentionHead {
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
  float scale = 1;
  bool is_causal = false;
  HeadRows q = {}, k = {}, v = {};
  const bool *query_mask = nullptr, *key_mask = nullptr, *mask = nullptr;
};

/// Number of queries processed together, and of keys in each of their blocks.
inline constexpr int64_t kQueryBlock = 64, kKeyBlock = 128;

/// Writes rows [begin, end) of the result, and for each the logarithm of the sum of its
/// exponentials; that is infinite for a query that may attend to no key.
void attend(const AttentionHead& head, int64_t begin, int64_t end, const OwnHeadRows& out,
            float* log_sums);

/// Values that the gradient of a head reads besides its operands.
struct AttentionResult {
  HeadRows out, d_out;
  const float* log_sums;
};
/// Writes the rows of dk and dv for keys [begin, end), and adds their part to dq [queries, depth].
void attend_backwards(const AttentionHead& head, const AttentionResult& result, int64_t begin,
                      int64_t end, float* dq, const OwnHeadRows& dk, const OwnHeadRows& dv);

/// Rows of 16-bit floats, `step` elements apart, for CPUs that multiply these.
struct HalfRows {
  char* data = nullptr;
  int64_t step = 0;
};

/// A head whose q, k and v are here instead of in `frame`.
struct HalfHead {
  AttentionHead frame;
  DType dtype;
  HalfRows q, k, v;
};

/// Memory that grows and is not cleared: new pages for each head would take longer than its
/// products.
template <typename T>
class GrowingRoom {
 public:
  T* fit(int64_t count) {
    if (count > size_) data_ = std::make_unique_for_overwrite<T[]>(size_t(size_ = count));
    return data_.get();
  }

 private:
  std::unique_ptr<T[]> data_;
  int64_t size_ = 0;
};

/// Buffers of a thread, reused for each head.
struct HalfAttentionRoom {
  GrowingRoom<char> q, k, v, d_out, products, half_p, half_ds;
  GrowingRoom<float> p, ds, sums_k, sums_v, out_row, d_out_row;
};

/// Work as attend() and attend_backwards(), for all keys; dq, dk and dv have the head's type.
void attend(const HalfHead& head, int64_t begin, int64_t end, HalfAttentionRoom& room,
            const HalfRows& out, float* log_sums);
struct HalfResult {
  HalfRows out, d_out;
  const float* log_sums;
};
void attend_backwards(const HalfHead& head, const HalfResult& result, HalfAttentionRoom& room,
                      const HalfRows& dq, const HalfRows& dk, const HalfRows& dv);

/// Computes dot_product_attention of checked tensors on a GPU, without all scores in memory. Tapes
/// follow it. Returns nullopt, with one line of the log in a process, if cuDNN is missing or does
/// not support the call: float32, masks, dropout, some depths.
std::optional<Tensor> cudnn_attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const nn::AttentionOptions& options, double scale);

}  // namespace distribute::ops_internal

namespace distribute::nn {

struct AttentionOptions;  // attention.hpp, whose bodies need this header

}  // namespace distribute::nn
