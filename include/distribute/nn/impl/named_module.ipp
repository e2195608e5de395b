#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/models.hpp>

#include <algorithm>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE NamedModule::NamedModule(std::vector<std::string> inputs,
                                           std::vector<std::string> outputs, std::string name)
    : Module(std::move(name)) {
  for (const std::string& input : inputs) add_input_name(input);
  for (const std::string& output : outputs) add_output_name(output);
}

DISTRIBUTE_INLINE void NamedModule::check_new(const std::string& name) const {
  for (const auto* names : {&inputs_, &outputs_})
    if (std::find(names->begin(), names->end(), name) != names->end())
      throw InvalidArgumentError(
          str_cat("two inputs or outputs of a module are called '", name, "'"));
}
DISTRIBUTE_INLINE void NamedModule::add_input_name(const std::string& name) {
  check_new(name);
  inputs_.push_back(name);
}
DISTRIBUTE_INLINE void NamedModule::add_output_name(const std::string& name) {
  check_new(name);
  outputs_.push_back(name);
}

DISTRIBUTE_INLINE NamedTensors NamedModule::checked_call(const NamedTensors& inputs,
                                                         const CallOptions& options) {
  NamedTensors outputs = call_named(inputs, options);
  bool fits = outputs.size() == outputs_.size();
  for (const std::string& name : outputs_) fits = fits && outputs.contains(name);
  if (!fits)
    throw InvalidArgumentError(str_cat("module '", name(), "' does not give its outputs, ",
                                       nn_internal::quoted_list(outputs_)));
  return outputs;
}

DISTRIBUTE_INLINE NamedTensors NamedModule::operator()(const NamedTensors& inputs,
                                                       CallOptions options) {
  std::vector<Tensor> ordered;
  NamedTensors fitting;
  for (const std::string& input : inputs_)
    if (const auto found = inputs.find(input); found != inputs.end()) {
      ordered.push_back(found->second);
      fitting[input] =
          nn_internal::with_mask(autocast(found->second), get_keras_mask(found->second));
    }
  if (ordered.size() != inputs_.size() || inputs.size() != inputs_.size()) {
    std::vector<std::string> given;
    for (const auto& [input, tensor] : inputs) given.push_back(input);
    throw InvalidArgumentError(str_cat("module '", name(), "' takes ",
                                       nn_internal::quoted_list(inputs_), ", and not ",
                                       nn_internal::quoted_list(given)));
  }
  NamedTensors outputs;
  enter(ordered, [&] {
    outputs = checked_call(fitting, options);
    return outputs.at(outputs_.at(0));
  });
  return outputs;
}

DISTRIBUTE_INLINE Tensor NamedModule::call(const Tensor& x, CallOptions options) {
  if (inputs_.size() != 1 || outputs_.size() != 1)
    throw InvalidArgumentError(str_cat(
        "module '", name(), "' has the inputs ", nn_internal::quoted_list(inputs_),
        " and the outputs ", nn_internal::quoted_list(outputs_), ": call it with named tensors"));
  return checked_call({{inputs_[0], x}}, options).at(outputs_[0]);
}

}  // namespace distribute::nn
