#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/optim/detail/optimizer_text.hpp>

#include <variant>

namespace distribute::optim::optim_internal {

using log_internal::json_number;
using log_internal::json_string;

DISTRIBUTE_INLINE std::string json_value(const OptimizerConfig::Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return json_number(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return json_string(*text);
  if (const auto* inner = std::get_if<OptimizerText>(&value)) return inner->json;
  return "null";
}

DISTRIBUTE_INLINE std::string optimizer_text(const std::string& class_name,
                                             const OptimizerConfig& config) {
  std::string members;
  for (const auto& [name, value] : config.values())
    members += str_cat(members.empty() ? "" : ",", json_string(name), ':', json_value(value));
  return str_cat("{\"class_name\":", json_string(class_name), ",\"config\":{", members, "}}");
}

}  // namespace distribute::optim::optim_internal
