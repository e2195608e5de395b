#pragma once
/// Finds the tensors in the result of a module.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <torch/torch.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

namespace distribute::torch_internal {

using Outputs = std::vector<::at::Tensor>;

inline void add_tensors(Outputs& all, const ::at::Tensor& tensor) {
  if (tensor.defined()) all.push_back(tensor);
}
template <typename... Parts>
void add_tensors(Outputs& all, const std::tuple<Parts...>& parts);
template <typename First, typename Second>
void add_tensors(Outputs& all, const std::pair<First, Second>& parts);
template <typename Part>
void add_tensors(Outputs& all, const std::vector<Part>& parts);
template <typename Part>
void add_tensors(Outputs& all, const std::optional<Part>& part);

template <typename Result>
concept HasTensors = requires(Outputs& all, const Result& result) {
  add_tensors(all, result);
};

template <typename... Parts>
void add_tensors(Outputs& all, const std::tuple<Parts...>& parts) {
  std::apply([&](const auto&... part) { (add_tensors(all, part), ...); }, parts);
}
template <typename First, typename Second>
void add_tensors(Outputs& all, const std::pair<First, Second>& parts) {
  add_tensors(all, parts.first);
  add_tensors(all, parts.second);
}
template <typename Part>
void add_tensors(Outputs& all, const std::vector<Part>& parts) {
  for (const Part& part : parts) add_tensors(all, part);
}
template <typename Part>
void add_tensors(Outputs& all, const std::optional<Part>& part) {
  if (part) add_tensors(all, *part);
}

/// Returns the tensors of `result` if they are wanted.
/// Throws  InvalidArgumentError for a wanted result in which they cannot be found.
template <typename Result>
Outputs tensors_in(const Result& result, bool wanted) {
  Outputs all;
  if constexpr (HasTensors<Result>) {
    if (wanted) add_tensors(all, result);
  } else if (wanted) {
    throw InvalidArgumentError(str_cat(
        "DistributedDataParallel: find_unused_parameters needs the tensors that forward() returns; "
        "return a Tensor, tuple, pair, vector or optional of them, not a ",
        ::c10::demangle(typeid(Result).name())));
  }
  return all;
}

template <typename Module>
std::shared_ptr<Module> shared_module(const std::shared_ptr<Module>& module) {
  return module;
}
template <typename Module>
std::shared_ptr<Module> shared_module(const ::torch::nn::ModuleHolder<Module>& module) {
  return module.ptr();
}

}  // namespace distribute::torch_internal
