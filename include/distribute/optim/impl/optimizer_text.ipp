#pragma once
#include <distribute/optim/optimizer.hpp>

#include <nlohmann/json.hpp>

namespace distribute::optim {

namespace optim_internal {

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

}  // namespace optim_internal

DISTRIBUTE_INLINE std::string Optimizer::serialize() const {
  check_serializable();
  return optim_internal::Json(
             {{"class_name", class_name()}, {"config", optim_internal::to_json(get_config())}})
      .dump();
}

DISTRIBUTE_INLINE std::string Optimizer::describe(const Step& step) const {
  check_serializable();
  OptimizerConfig config = own_config();
  config.set("learning_rate", double(step.rate));
  return optim_internal::Json({{"class_name", class_name()},
                               {"config", optim_internal::to_json(config)},
                               {"rate", double(step.rate)},
                               {"done", step.done},
                               {"decayed", step.decayed}})
      .dump();
}

}  // namespace distribute::optim
