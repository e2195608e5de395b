#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/sum_order.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/strategy/detail/reduction.hpp>

#include <algorithm>
#include <type_traits>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void sum_floats(std::span<const float* const> inputs, float* out, int64_t count) {
  const std::vector<const void*> all(inputs.begin(), inputs.end());
  collective::combine(collective::ReductionOp::Sum, DType::Float32, all, out, count);
}

DISTRIBUTE_INLINE void scale_floats(float* values, float factor, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) values[i] *= factor;
  });
}

DISTRIBUTE_INLINE DType dtype_of_mean(DType dtype) {
  return is_floating(dtype) ? dtype : DType::Float32;
}

/// Integers; their mean is float32.
template <typename T>
void reduce_integers(ReduceOp op, std::span<const Tensor> inputs, const Tensor& result,
                     int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t sum = 0;
    for (const Tensor& input : inputs) sum += int64_t(input.array().data<T>()[i]);
    if (op == ReduceOp::Mean)
      result.array().data<float>()[i] = float(double(sum) / double(inputs.size()));
    else
      result.array().data<T>()[i] = T(sum);
  }
}

/// 16-bit floats, which add in float32.
template <typename T>
void reduce_halves(ReduceOp op, std::span<const Tensor> inputs, const Tensor& result, int64_t begin,
                   int64_t end) {
  constexpr int64_t kBlock = 1024;
  const float divisor = op == ReduceOp::Mean ? float(inputs.size()) : 1.0f;
  float sum[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t count = std::min(kBlock, end - at);
    std::vector<const void*> all;
    for (const Tensor& input : inputs) all.push_back(input.array().data<T>() + at);
    collective::combine_branch(collective::ReductionOp::Sum, dtype_of<T>, all, sum, count);
    for (int64_t i = 0; i < count; ++i) result.array().data<T>()[at + i] = T(sum[i] / divisor);
  }
}

DISTRIBUTE_INLINE void check_inputs(const char* what, std::span<const Tensor> inputs) {
  for (size_t r = 0; r < inputs.size(); ++r) {
    if (!inputs[r]) throw InvalidArgumentError(str_cat(what, ": replica ", r, " gives no tensor"));
    const Tensor &first = inputs[0], &other = inputs[r];
    if (first.shape() == other.shape() && first.dtype() == other.dtype()) continue;
    throw InvalidArgumentError(str_cat(what, ": replicas give different tensors: replica 0 ",
                                       to_string(first.shape()), " ", name_of(first.dtype()),
                                       ", replica ", r, " ", to_string(other.shape()), " ",
                                       name_of(other.dtype())));
  }
}

DISTRIBUTE_INLINE Reduction::Reduction(const char* what, ReduceOp op, std::vector<Tensor> inputs)
    : op_(op), inputs_(std::move(inputs)) {
  check_inputs(what, inputs_);
  result_ = inputs_[0];
  if (inputs_.size() == 1) {
    if (op_ == ReduceOp::Mean && !is_floating(result_.dtype())) result_ = divided(result_, 1);
    return;
  }
  if (std::all_of(inputs_.begin(), inputs_.end(), is_indexed_slices)) {
    join_sparse();
    return;
  }
  const auto on_gpu = [](const Tensor& t) { return t.device().type == DeviceType::Gpu; };
  if (std::any_of(inputs_.begin(), inputs_.end(), on_gpu)) {
    sum_on_gpu();
    return;
  }
  LayoutPtr layout = result_.layout();
  if (!holds_elements(layout)) layout = nullptr;
  for (Tensor& input : inputs_) input = in_layout(input, layout);
  const DType dtype = result_.dtype();
  result_ = Tensor::empty(result_.shape(), op_ == ReduceOp::Mean ? dtype_of_mean(dtype) : dtype,
                          result_.device(), layout);
  size_ = layout ? layout->bytes() / size_of(dtype) : result_.num_elements();
}

/// Sums in the order of the tree on the first GPU among the inputs; compute() then has no work.
DISTRIBUTE_INLINE void Reduction::sum_on_gpu() {
  for (const Tensor& input : inputs_)
    if (result_.device().type != DeviceType::Gpu) result_ = result_.to(input.device());
  const Device device = result_.device();
  result_ = collective::combine_in_order(
      0, int(inputs_.size()), [&](int r) { return inputs_[size_t(r)].to(device); },
      [](const Tensor& a, const Tensor& b) { return autograd_internal::sum(a, b, 1.0f); });
  if (op_ == ReduceOp::Mean) result_ = divided(result_, int64_t(inputs_.size()));
}

DISTRIBUTE_INLINE void Reduction::join_sparse() {
  for (size_t r = 1; r < inputs_.size(); ++r) result_ = combine(result_, inputs_[r], 1.0f);
  if (op_ == ReduceOp::Sum) return;
  IndexedSlices rows = indexed_slices(result_);
  rows.values = divided(rows.values, int64_t(inputs_.size()));
  result_ = to_tensor(rows);
}

DISTRIBUTE_INLINE void Reduction::compute(int64_t begin, int64_t end) {
  dispatch(inputs_[0].dtype(), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_same_v<T, float>) {
      float* out = result_.array().data<float>();
      std::vector<const float*> sources;
      for (const Tensor& input : inputs_) sources.push_back(input.array().data<float>() + begin);
      sum_floats(sources, out + begin, end - begin);
      if (op_ == ReduceOp::Mean)
        scale_floats(out + begin, 1.0f / float(inputs_.size()), end - begin);
    } else if constexpr (std::is_integral_v<T>) {
      reduce_integers<T>(op_, inputs_, result_, begin, end);
    } else {
      reduce_halves<T>(op_, inputs_, result_, begin, end);
    }
  });
}

DISTRIBUTE_INLINE std::vector<ReductionSlice> slice_reductions(
    std::span<const Reduction> reductions) {
  constexpr int64_t kSlice = 16384;
  std::vector<ReductionSlice> slices;
  for (size_t i = 0; i < reductions.size(); ++i)
    for (int64_t begin = 0; begin < reductions[i].size(); begin += kSlice)
      slices.push_back({i, begin, std::min(begin + kSlice, reductions[i].size())});
  return slices;
}

DISTRIBUTE_INLINE Tensor reduce_tensors(const char* what, ReduceOp op, std::vector<Tensor> inputs) {
  Reduction reduction(what, op, std::move(inputs));
  parallel_for(reduction.size(), 16384,
               [&](int64_t begin, int64_t end) { reduction.compute(begin, end); });
  return reduction.result();
}

DISTRIBUTE_INLINE Tensor divided(const Tensor& value, int64_t count) {
  if (value.device().type == DeviceType::Gpu)
    return (is_floating(value.dtype()) ? stop_gradient(value) / count
                                       : divided(value.to(Device{}), count).to(value.device()));
  Tensor result = Tensor::empty(value.shape(), dtype_of_mean(value.dtype()), value.device());
  dispatch(value.dtype(), [&](auto type) {
    using T = decltype(type);
    using Mean = std::conditional_t<std::is_integral_v<T>, float, T>;
    const auto from = value.data<T>();
    Mean* to = result.mutable_data<Mean>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = Mean(float(double(from[i]) / double(count)));
  });
  return result;
}

DISTRIBUTE_INLINE Tensor gather_tensors(const char* what, const std::vector<Tensor>& inputs,
                                        int axis) {
  const Shape& first = inputs[0].shape();
  for (size_t r = 0; r < inputs.size(); ++r) {
    const Shape& other = inputs[r].shape();
    if (is_indexed_slices(inputs[r]))
      throw UnimplementedError(str_cat(what, " does not support IndexedSlices"));
    if (axis < 0 || axis >= other.rank())
      throw InvalidArgumentError(str_cat(what, ": axis ", axis, " is not in [0, rank) of ",
                                         to_string(other), " on replica ", r));
    const bool fits = other.rank() == first.rank() && other.with(axis, 0) == first.with(axis, 0) &&
                      inputs[r].dtype() == inputs[0].dtype();
    if (!fits)
      throw InvalidArgumentError(
          str_cat(what, ": Dimensions of inputs should match: replica 0 has ", to_string(first),
                  ", replica ", r, " ", to_string(other), "; only axis ", axis, " may differ"));
  }
  return inputs.size() == 1 ? inputs[0] : concat(inputs, axis);
}

}  // namespace distribute::strategy_internal
