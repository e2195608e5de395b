#pragma once
#include <distribute/nn/merging.hpp>
#include <distribute/ops/concat.hpp>
#include <distribute/ops/einsum.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/norm.hpp>
#include <distribute/ops/reshape.hpp>

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

/// The letters of a tensor of `rank` axes: 'a' is the batch, 'z' the axis of the sum.
DISTRIBUTE_INLINE std::string dot_letters(int rank, int axis, char first_free) {
  std::string letters = "a";
  for (int i = 1; i < rank; ++i) letters += i == axis ? 'z' : first_free++;
  return letters;
}

/// The axis of `x` counted from 0.
DISTRIBUTE_INLINE int dot_axis(const std::string& layer, const Shape& x, int axis) {
  const int counted = axis < 0 ? axis + x.rank() : axis;
  if (counted > 0 && counted < x.rank()) return counted;
  throw InvalidArgumentError(str_cat("Dot '", layer, "': axis ", axis, " of ", to_string(x),
                                     " is not one behind the axis of the batch"));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Dot::call_all(std::span<const Tensor> inputs, CallOptions) {
  if (inputs.size() != 2)
    throw InvalidArgumentError(
        str_cat("A `Dot` layer should be called on exactly 2 inputs. Received ", inputs.size()));
  Tensor x = inputs[0], y = inputs[1];
  const int of_x = nn_internal::dot_axis(name(), x.shape(), options_.axes.first);
  const int of_y = nn_internal::dot_axis(name(), y.shape(), options_.axes.second);
  if (x.shape()[of_x] != y.shape()[of_y] || x.shape()[0] != y.shape()[0])
    throw InvalidArgumentError(str_cat("Dot '", name(), "': axis ", of_x, " of ",
                                       to_string(x.shape()), " and axis ", of_y, " of ",
                                       to_string(y.shape()), ", or their batches, differ in size"));
  if (options_.normalize) x = l2_normalize(x, {of_x}), y = l2_normalize(y, {of_y});
  const std::string first = nn_internal::dot_letters(x.shape().rank(), of_x, 'b');
  const std::string second = nn_internal::dot_letters(y.shape().rank(), of_y, 'm');
  std::string result = first + second.substr(1);
  std::erase(result, 'z');
  const Tensor sums = einsum(first + "," + second + "->" + result, {x, y});
  return result.size() == 1 ? expand_dims(sums, 1) : sums;
}

}  // namespace distribute::nn
