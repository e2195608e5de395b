#pragma once
#include <distribute/nn/merging.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <array>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor MultiInputModule::operator()(const std::vector<Tensor>& inputs,
                                                      CallOptions options) {
  return enter(inputs, [&] {
    std::vector<Tensor> fitting;
    for (const Tensor& x : inputs) fitting.push_back(autocast(x));
    return call_all(fitting, options);
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

DISTRIBUTE_INLINE Tensor Merge::call_all(std::span<const Tensor> inputs, CallOptions) {
  if (inputs.size() < 2 || (function_ == MergeFunction::Subtract && inputs.size() != 2))
    throw InvalidArgumentError(
        str_cat("A `", kind(), "` layer should be called on ",
                function_ == MergeFunction::Subtract ? "exactly" : "a list of at least",
                " 2 inputs. Received ", inputs.size()));
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  static constexpr std::array<Function, 6> kFunctions{distribute::add, subtract, multiply,
                                                      distribute::add, maximum,  minimum};
  Tensor y = inputs[0];
  for (const Tensor& x : inputs.subspan(1)) y = kFunctions[size_t(function_)](y, x);
  return function_ == MergeFunction::Average ? y / double(inputs.size()) : y;
}

DISTRIBUTE_INLINE Concatenate::Concatenate(ConcatenateOptions options)
    : MultiInputModule(options.name), axis_(options.axis) {}

DISTRIBUTE_INLINE Tensor Concatenate::call_all(std::span<const Tensor> inputs, CallOptions) {
  return concat({inputs.begin(), inputs.end()}, axis_);
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
