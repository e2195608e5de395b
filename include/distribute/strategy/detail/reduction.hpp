#pragma once
/// Sums of the replicas' tensors in the fixed order of sums, computable in parts by several
/// threads.

#include <distribute/base/config.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace distribute::strategy_internal {

/// Computes out[i] = inputs[0][i] + inputs[1][i] + ... for `count` elements.
void sum_floats(std::span<const float* const> inputs, float* out, int64_t count);

/// Returns the dtype of a mean of `dtype`: float32 for integers.
DType dtype_of_mean(DType dtype);

/// A reduction whose elements several threads can share. The sum of an element is taken in replica
/// order by one thread, so the bits of the result do not depend on the division among threads. The
/// mean of integers is float32. Sparse inputs are joined, rows in replica order.
class Reduction {
 public:
  /// Converts the inputs to one layout and allocates the result.
  /// Throws  InvalidArgumentError when dtypes or shapes differ; `what` names the caller.
  Reduction(const char* what, ReduceOp op, std::vector<Tensor> inputs);

  /// Returns the number of elements to compute, padding of a layout included; 0 when the result is
  /// complete.
  int64_t size() const { return size_; }
  /// Computes elements [begin, end).
  void compute(int64_t begin, int64_t end);
  const Tensor& result() const { return result_; }

 private:
  void join_sparse();
  void sum_on_gpu();

  ReduceOp op_;
  std::vector<Tensor> inputs_;
  Tensor result_;
  int64_t size_ = 0;
};

/// A range of elements of one of several reductions.
struct ReductionSlice {
  size_t reduction;
  int64_t begin, end;
};
/// Cuts all elements into slices of at most 16,384.
std::vector<ReductionSlice> slice_reductions(std::span<const Reduction> reductions);

/// Reduces the tensors at once, on the calling thread's pool.
Tensor reduce_tensors(const char* what, ReduceOp op, std::vector<Tensor> inputs);

/// Throws  InvalidArgumentError, beginning with `what`, unless all replicas give tensors of one
///         shape and dtype.
void check_inputs(const char* what, std::span<const Tensor> inputs);

/// Divides every element by `count`; integers become float32.
Tensor divided(const Tensor& value, int64_t count);

/// Joins the tensors along `axis`, in order.
/// Throws  UnimplementedError for IndexedSlices; InvalidArgumentError for scalars, an axis outside
///          [0, rank) and shapes that differ in another axis.
Tensor gather_tensors(const char* what, const std::vector<Tensor>& inputs, int axis);

/// Part number `part` of `parts` equal parts of the range [0, count).
struct Share {
  int64_t begin, end;
};
inline Share share_of(int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace distribute::strategy_internal
