#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/saving/detail/config_reader.hpp>
#include <distribute/saving/detail/config_writer.hpp>

#include <vector>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE ConfigReader::ConfigReader(const Json& object)
    : config_(object.at("config")),
      class_name_(object.at("class_name").get<std::string>()),
      name_(config_.value("name", "")) {}

DISTRIBUTE_INLINE std::string ConfigReader::where() const {
  return str_cat("layer '", name_, "' (", class_name_, ")");
}

DISTRIBUTE_INLINE void ConfigReader::refuse(const std::string& what) const {
  throw UnimplementedError(str_cat("load_model: ", where(), ": ", what,
                                   " is not known here; build the model in the program, and "
                                   "load_weights fills it"));
}

DISTRIBUTE_INLINE const ConfigReader::Json* ConfigReader::find(const std::string& key) {
  asked_.insert(key);
  const auto found = config_.find(key);
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

template <typename T>
T ConfigReader::get(const std::string& key, T otherwise) {
  const Json* value = find(key);
  return value ? value->get<T>() : otherwise;
}
template bool ConfigReader::get(const std::string&, bool);
template int ConfigReader::get(const std::string&, int);
template int64_t ConfigReader::get(const std::string&, int64_t);
template double ConfigReader::get(const std::string&, double);
template std::string ConfigReader::get(const std::string&, std::string);
template std::vector<int> ConfigReader::get(const std::string&, std::vector<int>);
template std::vector<int64_t> ConfigReader::get(const std::string&, std::vector<int64_t>);

DISTRIBUTE_INLINE std::optional<double> ConfigReader::maybe_number(const std::string& key) {
  const Json* value = find(key);
  return value ? std::optional<double>(value->get<double>()) : std::nullopt;
}

DISTRIBUTE_INLINE nn::ActivationFunction ConfigReader::activation(const std::string& key) {
  const Json* value = find(key);
  if (!value) return nullptr;
  if (value->is_string())
    for (const auto& [name, function] : nn::nn_internal::kActivations)
      if (value->get<std::string_view>() == name) return function;
  refuse(str_cat(key, " ", value->dump()));
}

DISTRIBUTE_INLINE std::optional<nn::Size2D> ConfigReader::maybe_pair(const std::string& key) {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (value->is_number()) return nn::Size2D(value->get<int64_t>());
  return nn::Size2D(value->at(0).get<int64_t>(), value->at(1).get<int64_t>());
}

DISTRIBUTE_INLINE nn::Size2D ConfigReader::pair(const std::string& key) {
  return maybe_pair(key).value_or(1);
}

DISTRIBUTE_INLINE void ConfigReader::size(const std::string& key, int64_t& to) {
  to = single(key, to);
}

DISTRIBUTE_INLINE void ConfigReader::size(const std::string& key, nn::Size2D& to) {
  to = maybe_pair(key).value_or(to);
}

DISTRIBUTE_INLINE void ConfigReader::size(const std::string& key, nn::Size3D& to) {
  const Json* value = find(key);
  if (!value) return;
  to = value->is_number() ? nn::Size3D(value->get<int64_t>())
                          : nn::Size3D(value->at(0).get<int64_t>(), value->at(1).get<int64_t>(),
                                       value->at(2).get<int64_t>());
}

DISTRIBUTE_INLINE Padding ConfigReader::padding() {
  const std::string name = get<std::string>("padding", "valid");
  if (name == "valid") return Padding::Valid;
  if (name == "same") return Padding::Same;
  refuse("padding '" + name + "'");
}

DISTRIBUTE_INLINE nn::Regularizer ConfigReader::regularizer(const std::string& key) {
  const Json* value = find(key);
  if (!value) return {};
  const std::string kind = value->is_object() ? value->value("class_name", "") : "";
  if (kind != "L1" && kind != "L2" && kind != "L1L2") refuse(str_cat(key, " ", value->dump()));
  const Json& factors = value->at("config");
  return {factors.value("l1", 0.0), factors.value("l2", 0.0)};
}

DISTRIBUTE_INLINE nn::Constraint ConfigReader::constraint(const std::string& key) {
  const Json* value = find(key);
  if (!value) return {};
  const std::string kind = value->is_object() ? value->value("class_name", "") : "";
  const Json config = value->is_object() ? value->value("config", Json::object()) : Json();
  const auto number = [&](const char* name, double otherwise) {
    return config.value(name, otherwise);
  };
  std::vector<int> axis{0};
  if (const auto given = config.find("axis"); given != config.end())
    axis = given->is_array() ? given->get<std::vector<int>>() : std::vector{given->get<int>()};
  if (kind == "NonNeg") return nn::constraints::non_neg();
  if (kind == "UnitNorm") return nn::constraints::unit_norm(axis);
  if (kind == "MaxNorm") return nn::constraints::max_norm(number("max_value", 2), axis);
  if (kind == "MinMaxNorm")
    return nn::constraints::min_max_norm(number("min_value", 0), number("max_value", 1),
                                         number("rate", 1), axis);
  refuse(str_cat(key, " ", value->dump()));
}

DISTRIBUTE_INLINE int64_t ConfigReader::single(const std::string& key, int64_t otherwise) {
  const Json* value = find(key);
  if (!value) return otherwise;
  if (!value->is_array()) return value->get<int64_t>();
  if (value->size() != 1) refuse(str_cat(key, " ", value->dump()));
  return value->at(0).get<int64_t>();
}

DISTRIBUTE_INLINE void ConfigReader::finish(nn::Module& layer) {
  if (!name_.empty()) layer.set_name(name_);
  find("name");
  if (!get<bool>("trainable", true)) layer.set_trainable(false);
  if (const Json* dtype = find("dtype")) {
    const Json& policy = dtype->is_string() ? *dtype : dtype->at("config").at("name");
    layer.set_dtype_policy(nn::Policy(policy.get<std::string>()));
  }
  if (!asked_.contains("activity_regularizer"))
    layer.set_activity_regularizer(regularizer("activity_regularizer"));
  if (get<std::string>("data_format", "channels_last") != "channels_last")
    refuse("data_format 'channels_first'");
  for (const auto& [key, value] : config_.items()) {
    const bool says_nothing = value.is_null() || value == Json(false) || value.empty() ||
                              key.ends_with("_initializer") || key == "seed" ||
                              key == "build_input_shape";
    if (!asked_.contains(key) && !says_nothing) refuse("option '" + key + "'");
  }
}

}  // namespace distribute::saving_internal
