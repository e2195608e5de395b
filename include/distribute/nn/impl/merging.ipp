#pragma once
#include <distribute/nn/merging.hpp>
#include <distribute/ops/concat.hpp>
#include <distribute/ops/elementwise.hpp>

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

}  // namespace distribute::nn
