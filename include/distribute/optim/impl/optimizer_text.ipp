#pragma once
#include <distribute/base/json.hpp>
#include <distribute/optim/detail/optimizer_text.hpp>

#include <nlohmann/json.hpp>

namespace distribute::optim::optim_internal {

using Json = nlohmann::json;

DISTRIBUTE_INLINE Json to_json(const OptimizerConfig& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.values()) {
    Json& place = json[name];
    if (const bool* flag = std::get_if<bool>(&value)) place = *flag;
    if (const double* number = std::get_if<double>(&value)) place = *number;
    if (const std::string* text = std::get_if<std::string>(&value)) place = *text;
  }
  return json;
}

DISTRIBUTE_INLINE Json optimizer_json(const std::string& class_name,
                                      const OptimizerConfig& config) {
  return {{"class_name", class_name}, {"config", to_json(config)}};
}

DISTRIBUTE_INLINE std::string optimizer_text(const std::string& class_name,
                                             const OptimizerConfig& config) {
  return json_text(optimizer_json(class_name, config));
}

DISTRIBUTE_INLINE std::string kernel_text(const std::string& class_name,
                                          const OptimizerConfig& config,
                                          const OptimizerStep& step) {
  Json json = optimizer_json(class_name, config);
  json["rate"] = double(step.rate);
  json["done"] = step.done;
  json["decayed"] = step.decayed;
  if (!step.factors.empty()) json["factors"] = step.factors;
  if (!step.ratios.empty()) json["ratios"] = step.ratios;
  return json_text(json);
}

}  // namespace distribute::optim::optim_internal
