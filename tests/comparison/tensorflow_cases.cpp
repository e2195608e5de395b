/// Prints what this library does in the cases of tensorflow_cases.py.

#include "cases.hpp"
#include "function_cases.hpp"
#include "layer_cases.hpp"
#include "option_cases.hpp"

#include <distribute/device/placement.hpp>
#include <distribute/ops/array.hpp>

#include <cstdio>

namespace comparison {

namespace {

template <typename T>
std::string numbers(const Tensor& tensor) {
  std::string text;
  char number[32];
  for (const T value : tensor.data<T>()) {
    std::snprintf(number, sizeof number, " %.7g", double(value));
    text += number;
  }
  return text;
}

std::string kind_of(dist::DType dtype) {
  if (dtype == dist::DType::Int32) return "int32";
  if (dtype == dist::DType::Int64) return "int64";
  return dist::is_floating(dtype) ? "float" : "other";
}

}  // namespace

std::string show(const Tensor& tensor) {
  if (!tensor) return "none";
  std::string text = kind_of(tensor.dtype());
  for (int axis = 0; axis < tensor.shape().rank(); ++axis)
    text += "[" + std::to_string(tensor.shape()[axis]) + "]";
  if (tensor.dtype() == dist::DType::Int32) return text + numbers<int32_t>(tensor);
  if (tensor.dtype() == dist::DType::Int64) return text + numbers<int64_t>(tensor);
  return text + numbers<float>(dist::cast(tensor, dist::DType::Float32));
}

std::string show(bool value) { return value ? "True" : "False"; }

std::string rows(const std::vector<double>& values) {
  std::string text;
  char number[32];
  for (double value : values) {
    std::snprintf(number, sizeof number, "%.7g", value);
    text += (text.empty() ? "" : " ") + std::string(number);
  }
  return "(" + text + ")";
}

void print_case(const std::string& name, const std::function<std::string()>& function) {
  std::string text;
  try {
    text = function();
  } catch (const dist::Error&) {
    text = "error";
  }
  std::printf("%s:%s%s\n", name.c_str(), text.empty() ? "" : " ", text.c_str());
  std::fflush(stdout);
}

}  // namespace comparison

int main() {
  using namespace comparison;
  dist::config::set_logical_device_configuration(4);
  dist::config::set_float32_matmul_precision("highest");
  for (auto* cases : {reduction_cases,
                      input_cases,
                      partitioner_cases,
                      optimizer_cases,
                      gradient_cases,
                      loss_cases,
                      metric_cases,
                      weight_cases,
                      variable_cases,
                      name_cases,
                      fit_cases,
                      model_cases,
                      odd_cases,
                      layer_cases,
                      size_layer_cases,
                      wrapper_layer_cases,
                      resizing_layer_cases,
                      cell_cases,
                      conv_lstm_cases,
                      loss_option_cases,
                      metric_option_cases,
                      optimizer_option_cases,
                      callback_option_cases,
                      function_cases,
                      pipeline_cases,
                      resume_cases,
                      strategy_cases,
                      context_cases})
    cases();
}
