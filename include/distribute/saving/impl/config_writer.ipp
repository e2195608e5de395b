#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/saving/detail/config_writer.hpp>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

DISTRIBUTE_INLINE void refuse_layer(const nn::Module& layer, const std::string& what) {
  throw UnimplementedError(str_cat("save_model: layer '", layer.name(), "' ", what,
                                   "; save_weights writes the weights of any model"));
}

DISTRIBUTE_INLINE std::string activation_name(const nn::Module& layer,
                                              nn::ActivationFunction function) {
  if (!function) return "linear";
  for (const auto& [name, known] : nn::nn_internal::kActivations)
    if (known == function) return std::string(name);
  refuse_layer(layer, "has an activation that Keras does not know by name");
}

DISTRIBUTE_INLINE std::string padding_name(const nn::Module& layer, Padding padding) {
  if (padding == Padding::Explicit) refuse_layer(layer, "has an explicit padding");
  return padding == Padding::Same ? "same" : "valid";
}

DISTRIBUTE_INLINE Json keras_object(const std::string& module, const std::string& name,
                                    Json config) {
  return {{"module", module},
          {"class_name", name},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

DISTRIBUTE_INLINE Json layer_object(const nn::Module& layer, const std::string& name, Json config) {
  Json all = {{"name", layer.name()},
              {"trainable", layer.trainable()},
              {"dtype", layer.dtype_policy().name()}};
  if (layer.activity_regularizer() && !dynamic_cast<const nn::ActivityRegularization*>(&layer))
    all["activity_regularizer"] = regularizer_object(layer.activity_regularizer());
  all.update(config);
  return keras_object("keras.layers", name, std::move(all));
}

DISTRIBUTE_INLINE void add_lora(const nn::LoraLayer& layer, Json& config) {
  if (!layer.lora_enabled()) return;
  config["lora_rank"] = layer.lora_rank();
  config["lora_alpha"] = layer.lora_alpha();
}

DISTRIBUTE_INLINE Json regularizer_object(const nn::Regularizer& regularizer) {
  if (!regularizer) return nullptr;
  return keras_object("keras.regularizers", "L1L2",
                      {{"l1", regularizer.l1}, {"l2", regularizer.l2}});
}

DISTRIBUTE_INLINE Json constraint_object(const nn::Constraint& c) {
  using Kind = nn::Constraint::Kind;
  const auto object = [](const char* name, Json config) {
    return keras_object("keras.constraints", name, std::move(config));
  };
  const Json axis = c.axis.size() == 1 ? Json(c.axis[0]) : Json(c.axis);
  switch (c.kind) {
    case Kind::None: return nullptr;
    case Kind::NonNeg: return object("NonNeg", Json::object());
    case Kind::UnitNorm: return object("UnitNorm", {{"axis", axis}});
    case Kind::MaxNorm: return object("MaxNorm", {{"max_value", c.max_value}, {"axis", axis}});
    case Kind::MinMaxNorm: break;
  }
  return object(
      "MinMaxNorm",
      {{"min_value", c.min_value}, {"max_value", c.max_value}, {"rate", c.rate}, {"axis", axis}});
}

DISTRIBUTE_INLINE Json pair_of(const nn::Size2D& size) { return {size.height, size.width}; }
DISTRIBUTE_INLINE Json pair_of(const nn::Size3D& size) {
  return {size.depth, size.height, size.width};
}

DISTRIBUTE_INLINE Json batch_shape(const Shape& sizes, std::optional<int64_t> batch) {
  Json shape = std::vector<int64_t>(sizes.begin(), sizes.end());
  if (sizes.rank() > 0) shape[0] = batch ? Json(*batch) : Json(nullptr);
  return shape;
}

}  // namespace distribute::saving_internal
