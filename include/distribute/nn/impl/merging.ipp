#pragma once
#include <distribute/nn/merging.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>
#include <array>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor MultiInputModule::operator()(const std::vector<Tensor>& inputs,
                                                      CallOptions options) {
  return enter(inputs, [&] {
    std::vector<Tensor> fitting;
    for (const Tensor& x : inputs)
      fitting.push_back(nn_internal::with_mask(autocast(x), get_keras_mask(x)));
    const Tensor mask = supports_masking() ? compute_mask(fitting) : Tensor();
    return nn_internal::with_mask(call_all(fitting, options), mask, inputs[0]);
  });
}

DISTRIBUTE_INLINE Tensor MultiInputModule::call(const Tensor& x, CallOptions options) {
  return call_all(std::span(&x, 1), std::move(options));
}

DISTRIBUTE_INLINE Merge::Merge(MergeFunction function, std::string name)
    : MultiInputModule(std::move(name)), function_(function) {}

DISTRIBUTE_INLINE std::string Merge::kind() const {
  static constexpr std::array<const char*, 6> kKinds{"add",     "subtract", "multiply",
                                                     "average", "maximum",  "minimum"};
  return kKinds[size_t(function_)];
}

namespace nn_internal {

/// Gives the inputs alike numbers of axes: axes of size 1 are added behind the batch, so that
/// examples keep to each other. Source  Merge.call of Keras
DISTRIBUTE_INLINE std::vector<Tensor> of_one_rank(std::span<const Tensor> inputs) {
  int rank = 0;
  for (const Tensor& x : inputs) rank = std::max(rank, x.shape().rank());
  std::vector<Tensor> fitting;
  for (const Tensor& x : inputs) {
    Tensor y = x;
    while (y.shape().rank() > 0 && y.shape().rank() < rank) y = expand_dims(y, 1);
    fitting.push_back(x.shape().rank() == rank ? x : with_mask(y, get_keras_mask(x)));
  }
  return fitting;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Merge::call_all(std::span<const Tensor> all, CallOptions) {
  const std::vector<Tensor> fitting = nn_internal::of_one_rank(all);
  const std::span<const Tensor> inputs = fitting;
  if (inputs.size() < 2 || (function_ == MergeFunction::Subtract && inputs.size() != 2))
    throw InvalidArgumentError(
        str_cat("A `", kind(), "` layer should be called on ",
                function_ == MergeFunction::Subtract ? "exactly" : "a list of at least",
                " 2 inputs. Received ", inputs.size()));
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  static constexpr std::array<Function, 6> kFunctions{distribute::add, subtract, multiply,
                                                      distribute::add, maximum,  minimum};
  if (function_ == MergeFunction::Multiply && supports_masking()) return product(inputs);
  if (function_ == MergeFunction::Maximum && supports_masking()) return extreme(maximum, inputs);
  if (function_ == MergeFunction::Minimum && supports_masking()) return extreme(minimum, inputs);
  Tensor y = inputs[0];
  for (const Tensor& x : inputs.subspan(1)) y = kFunctions[size_t(function_)](y, x);
  return function_ == MergeFunction::Average ? y / double(inputs.size()) : y;
}

DISTRIBUTE_INLINE Tensor Merge::product(std::span<const Tensor> inputs) const {
  Tensor y;
  for (const Tensor& x : inputs) {
    const Tensor mask = get_keras_mask(x);
    const Tensor factor = mask ? where(expand_dims(mask, -1), x, scalar_like(x, 1)) : x;
    y = y ? y * factor : factor;
  }
  const Tensor mask = compute_mask(inputs);
  return mask ? where(expand_dims(mask, -1), y, scalar_like(y, 0)) : y;
}

/// Replaces a masked step of an input by the value of the inputs before it, and the other way
/// round. Source  Merge._apply_merge_op_and_or_mask of Keras
DISTRIBUTE_INLINE Tensor Merge::extreme(Tensor (*function)(const Tensor&, const Tensor&),
                                        std::span<const Tensor> inputs) const {
  Tensor y = inputs[0], counts = get_keras_mask(y);
  for (const Tensor& x : inputs.subspan(1)) {
    const Tensor mask = get_keras_mask(x);
    const Tensor other = mask ? where(expand_dims(mask, -1), x, y) : x;
    if (counts) y = where(expand_dims(counts, -1), y, other);
    counts = mask && counts ? logical_or(mask, counts) : Tensor();
    y = function(y, other);
  }
  return y;
}

DISTRIBUTE_INLINE Tensor Merge::compute_mask(std::span<const Tensor> inputs) const {
  Tensor joined;
  for (const Tensor& x : inputs) {
    const Tensor mask = get_keras_mask(x);
    if (!mask) return {};
    joined = joined ? logical_or(joined, mask) : mask;
  }
  return joined;
}

DISTRIBUTE_INLINE Concatenate::Concatenate(ConcatenateOptions options)
    : MultiInputModule(options.name), axis_(options.axis) {}

DISTRIBUTE_INLINE Tensor Concatenate::call_all(std::span<const Tensor> inputs, CallOptions) {
  return concat({inputs.begin(), inputs.end()}, axis_);
}

DISTRIBUTE_INLINE Tensor Concatenate::compute_mask(std::span<const Tensor> inputs) const {
  bool any = false;
  std::vector<Tensor> masks;  // of every element, 1 where it counts
  for (const Tensor& x : inputs) {
    const Tensor mask = get_keras_mask(x), every = cast(ones_like(x), DType::Float32);
    any = any || mask;
    masks.push_back(mask ? every * cast(expand_dims(mask, -1), DType::Float32) : every);
  }
  if (!any) return {};
  const Tensor counts = reduce_max(concat(masks, axis_), {-1});
  return greater(counts, scalar_like(counts, 0));
}

DISTRIBUTE_INLINE Dot::Dot(DotOptions options)
    : MultiInputModule(options.name), options_(std::move(options)) {}

namespace nn_internal {

/// `axis`, which may count from the end.
DISTRIBUTE_INLINE int dot_axis(const Shape& shape, int axis) {
  const int counted = axis < 0 ? axis + shape.rank() : axis;
  if (counted < 1 || counted >= shape.rank())
    throw InvalidArgumentError(
        str_cat("Dot: axis ", axis, " of ", to_string(shape), "; it must be one after the batch"));
  return counted;
}

/// [batch, rest, k]: the summed axis last; the sizes of the rest go into `rest`.
DISTRIBUTE_INLINE Tensor summed_axis_last(const Tensor& x, int axis, std::vector<int64_t>& rest) {
  std::vector<int> order{0};
  int64_t count = 1;
  for (int i = 1; i < x.shape().rank(); ++i) {
    if (i == axis) continue;
    order.push_back(i);
    rest.push_back(x.shape()[i]);
    count *= x.shape()[i];
  }
  order.push_back(axis);
  return reshape(transpose(x, order), {x.shape()[0], count, x.shape()[axis]});
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Dot::call_all(std::span<const Tensor> inputs, CallOptions) {
  if (inputs.size() != 2)
    throw InvalidArgumentError(str_cat("A `Dot` layer should be called on exactly 2 inputs. ",
                                       "Received ", inputs.size()));
  std::vector<int64_t> sizes{inputs[0].shape()[0]};
  std::array<Tensor, 2> sides;
  for (size_t i = 0; i < 2; ++i) {
    sides[i] = nn_internal::summed_axis_last(
        inputs[i], nn_internal::dot_axis(inputs[i].shape(), options_.axes[i]), sizes);
    if (options_.normalize) sides[i] = l2_normalize(sides[i], {-1}, 1e-14f);  // as Keras bounds it
  }
  if (sizes.size() == 1) sizes.push_back(1);
  return reshape(matmul(sides[0], sides[1], {.transpose_b = true}), Shape(sizes));
}

}  // namespace distribute::nn
