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
  return "null";
}

/// The members of an optimizer's object, without braces.
DISTRIBUTE_INLINE std::string members_of(const std::string& class_name,
                                         const OptimizerConfig& config) {
  std::string members;
  for (const auto& [name, value] : config.values())
    members += str_cat(members.empty() ? "" : ",", json_string(name), ':', json_value(value));
  return str_cat("\"class_name\":", json_string(class_name), ",\"config\":{", members, '}');
}

DISTRIBUTE_INLINE std::string optimizer_text(const std::string& class_name,
                                             const OptimizerConfig& config) {
  return str_cat('{', members_of(class_name, config), '}');
}

DISTRIBUTE_INLINE std::string list_of(const std::vector<bool>& flags) {
  std::string list;
  for (const bool flag : flags) list += str_cat(list.empty() ? "" : ",", flag ? "true" : "false");
  return list;
}

/// `,"name":[...]`; empty where there are no numbers.
DISTRIBUTE_INLINE std::string numbers_member(const char* name, const std::vector<float>& numbers) {
  std::string list;
  for (const float number : numbers)
    list += str_cat(list.empty() ? "" : ",", json_number(double(number)));
  return list.empty() ? list : str_cat(",\"", name, "\":[", list, ']');
}

DISTRIBUTE_INLINE std::string kernel_text(const std::string& class_name,
                                          const OptimizerConfig& config,
                                          const OptimizerStep& step) {
  return str_cat('{', members_of(class_name, config), ",\"rate\":", json_number(double(step.rate)),
                 ",\"done\":", step.done, ",\"decayed\":[", list_of(step.decayed), ']',
                 numbers_member("factors", step.factors), numbers_member("ratios", step.ratios),
                 '}');
}

}  // namespace distribute::optim::optim_internal
