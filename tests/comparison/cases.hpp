#pragma once
/// Prints what this library does in small cases, a line each, as tensorflow_cases.py prints what
/// TensorFlow does.

#include <distribute/base/error.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace comparison {

namespace dist = distribute;
using dist::Tensor;

/// "float[2] 1 2"; all floating dtypes are "float".
std::string show(const Tensor& tensor);
std::string show(bool value);
inline std::string show(int64_t value) { return show(Tensor(value)); }
inline std::string show(const std::string& value) { return value; }
template <typename T>
std::string show(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : " | ") + show(T(value));
  return text;
}
template <typename T>
std::string show(const dist::PerReplica<T>& value) {
  return show(value.values());
}
/// "(0 1)".
std::string rows(const std::vector<double>& values);

void print_case(const std::string& name, const std::function<std::string()>& function);

/// Prints "name: " and what the function gives, or "error".
template <typename Function>
void run_case(const std::string& name, Function function) {
  print_case(name, [&] { return show(function()); });
}

/// Over that many logical CPU devices.
inline dist::MirroredStrategy<> mirrored(int replicas) {
  return dist::MirroredStrategy<>(dist::MirroredOptions{.num_replicas = replicas});
}

/// The value of the calling replica.
template <typename T>
T in_replica(const std::vector<T>& values) {
  return values.at(size_t(dist::get_replica_context()->replica_id_in_sync_group()));
}

void reduction_cases();
void input_cases();
void partitioner_cases();
void optimizer_cases();
void gradient_cases();
void loss_cases();
void metric_cases();
void weight_cases();
void variable_cases();
void name_cases();
void strategy_cases();
void context_cases();
void odd_cases();
void fit_cases();
void model_cases();

}  // namespace comparison
