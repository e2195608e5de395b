#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/layer_config.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/operation_merge.hpp>
#include <distribute/saving/detail/preprocessing_layers.hpp>

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

/// The limits that are set.
DISTRIBUTE_INLINE Json renorm_limits(const nn::BatchNormalizationOptions& o) {
  if (!o.renorm) return nullptr;
  Json limits = Json::object();
  if (o.renorm_clipping.rmax) limits["rmax"] = *o.renorm_clipping.rmax;
  if (o.renorm_clipping.rmin) limits["rmin"] = *o.renorm_clipping.rmin;
  if (o.renorm_clipping.dmax) limits["dmax"] = *o.renorm_clipping.dmax;
  return limits;
}

DISTRIBUTE_INLINE bool add_batch_normalization(const nn::Module& layer, Json& layers) {
  const auto* batch = dynamic_cast<const nn::BatchNormalization*>(&layer);
  if (!batch) return false;
  const auto& o = batch->options();
  layers.push_back(layer_object(layer, "BatchNormalization",
                                {{"axis", o.axis},
                                 {"momentum", o.momentum},
                                 {"epsilon", o.epsilon},
                                 {"center", o.center},
                                 {"scale", o.scale},
                                 {"synchronized", o.synchronized},
                                 {"renorm", o.renorm},
                                 {"renorm_clipping", renorm_limits(o)},
                                 {"renorm_momentum", o.renorm_momentum},
                                 {"beta_regularizer", regularizer_object(o.beta_regularizer)},
                                 {"gamma_regularizer", regularizer_object(o.gamma_regularizer)},
                                 {"beta_constraint", constraint_object(o.beta_constraint)},
                                 {"gamma_constraint", constraint_object(o.gamma_constraint)}}));
  if (o.activation)
    layers.push_back(keras_object("keras.layers", "Activation",
                                  {{"name", layer.name() + "_activation"},
                                   {"activation", activation_name(layer, o.activation)}}));
  return true;
}

DISTRIBUTE_INLINE bool add_normalization(const nn::Module& layer, Json& layers) {
  Json config;
  const char* name = nullptr;
  if (const auto* norm = dynamic_cast<const nn::LayerNormalization*>(&layer)) {
    const auto& o = norm->options();
    name = "LayerNormalization";
    config = {{"axis", o.axis.list},
              {"epsilon", o.epsilon},
              {"center", o.center},
              {"scale", o.scale},
              {"beta_regularizer", regularizer_object(o.beta_regularizer)},
              {"gamma_regularizer", regularizer_object(o.gamma_regularizer)},
              {"beta_constraint", constraint_object(o.beta_constraint)},
              {"gamma_constraint", constraint_object(o.gamma_constraint)}};
  } else if (const auto* groups = dynamic_cast<const nn::GroupNormalization*>(&layer)) {
    const auto& o = groups->options();
    name = "GroupNormalization";
    config = {{"groups", o.groups},
              {"axis", o.axis},
              {"epsilon", o.epsilon},
              {"center", o.center},
              {"scale", o.scale},
              {"beta_regularizer", regularizer_object(o.beta_regularizer)},
              {"gamma_regularizer", regularizer_object(o.gamma_regularizer)},
              {"beta_constraint", constraint_object(o.beta_constraint)},
              {"gamma_constraint", constraint_object(o.gamma_constraint)}};
  } else if (const auto* unit = dynamic_cast<const nn::UnitNormalization*>(&layer)) {
    name = "UnitNormalization";
    config = {{"axis", unit->options().axis.list}};
  } else if (const auto* scale = dynamic_cast<const nn::LayerScale*>(&layer)) {
    const auto& o = scale->options();
    layers.push_back(
        layer_object(layer, "LayerScale",
                     {{"init_values", o.init_values}, {"projection_dim", o.projection_dim}}));
    layers.back()["module"] = "keras.src.applications.convnext";
    return true;
  } else if (const auto* rms = dynamic_cast<const nn::RMSNormalization*>(&layer)) {
    name = "RMSNormalization";
    config = {{"axis", rms->options().axis}, {"epsilon", rms->options().epsilon}};
  } else {
    return add_batch_normalization(layer, layers);
  }
  layers.push_back(layer_object(layer, name, std::move(config)));
  return true;
}

DISTRIBUTE_INLINE bool add_activation(const nn::Module& layer, Json& layers) {
  const auto push = [&](const char* name, Json config) {
    layers.push_back(layer_object(layer, name, std::move(config)));
    return true;
  };
  if (const auto* activation = dynamic_cast<const nn::Activation*>(&layer))
    return push("Activation", {{"activation", activation_name(layer, activation->function())}});
  if (const auto* relu = dynamic_cast<const nn::ReLU*>(&layer)) {
    const auto& o = relu->options();
    const Json most = o.max_value ? Json(*o.max_value) : Json(nullptr);
    return push(
        "ReLU",
        {{"max_value", most}, {"negative_slope", o.negative_slope}, {"threshold", o.threshold}});
  }
  if (const auto* leaky = dynamic_cast<const nn::LeakyReLU*>(&layer))
    return push("LeakyReLU", {{"negative_slope", leaky->negative_slope()}});
  if (const auto* elu = dynamic_cast<const nn::ELU*>(&layer))
    return push("ELU", {{"alpha", elu->alpha()}});
  if (dynamic_cast<const nn::Identity*>(&layer)) return push("Identity", Json::object());
  if (dynamic_cast<const nn::ActivityRegularization*>(&layer))
    return push("ActivityRegularization",
                {{"l1", layer.activity_regularizer().l1}, {"l2", layer.activity_regularizer().l2}});
  if (const auto* prelu = dynamic_cast<const nn::PReLU*>(&layer)) {
    const auto& o = prelu->options();
    return push("PReLU",
                {{"alpha_regularizer", regularizer_object(o.alpha_regularizer)},
                 {"alpha_constraint", constraint_object(o.alpha_constraint)},
                 {"shared_axes", o.shared_axes.empty() ? Json(nullptr) : Json(o.shared_axes)}});
  }
  if (const auto* softmax = dynamic_cast<const nn::Softmax*>(&layer))
    return push("Softmax", {{"axis", softmax->axis()}});
  return false;
}

/// Dropout, or AlphaDropout, whose noise_shape may have null.
template <typename Layer>
bool add_dropout(const nn::Module& layer, const char* name, Json& layers) {
  const auto* dropout = dynamic_cast<const Layer*>(&layer);
  if (!dropout) return false;
  Json sizes = dropout->noise_shape().empty() ? Json(nullptr) : Json::array();
  for (const auto& size : dropout->noise_shape())
    sizes.push_back(size ? Json(*size) : Json(nullptr));
  layers.push_back(layer_object(layer, name, {{"rate", dropout->rate()}, {"noise_shape", sizes}}));
  return true;
}

DISTRIBUTE_INLINE bool add_noise(const nn::Module& layer, Json& layers) {
  const auto push = [&](const std::string& name, const char* option, double value) {
    layers.push_back(layer_object(layer, name, {{option, value}}));
    if (name.starts_with("Spatial")) layers.back()["config"].erase("trainable");  // not an option
    return true;
  };
  if (add_dropout<nn::Dropout>(layer, "Dropout", layers) ||
      add_dropout<nn::AlphaDropout>(layer, "AlphaDropout", layers))
    return true;
  if (const auto* spatial = dynamic_cast<const nn::SpatialDropout*>(&layer)) {
    const std::string kind = layer.class_name();  // spatial_dropout1d
    return push("SpatialDropout" + kind.substr(kind.size() - 2, 1) + "D", "rate", spatial->rate());
  }
  if (const auto* noise = dynamic_cast<const nn::GaussianNoise*>(&layer))
    return push("GaussianNoise", "stddev", noise->stddev());
  if (const auto* noise = dynamic_cast<const nn::GaussianDropout*>(&layer))
    return push("GaussianDropout", "rate", noise->rate());
  return false;
}

/// The one layer inside of a wrapper.
DISTRIBUTE_INLINE Json inner_object(const nn::Module& layer) {
  Json inner = Json::array();
  add_layer(layer, inner);
  if (inner.size() != 1) refuse_layer(layer, "is two layers in Keras");
  return inner[0];
}

DISTRIBUTE_INLINE bool add_reshaping(const nn::Module& layer, Json& layers) {
  if (dynamic_cast<const nn::Flatten*>(&layer))
    layers.push_back(layer_object(layer, "Flatten", Json::object()));
  else if (const auto* shape = dynamic_cast<const nn::Reshape*>(&layer))
    layers.push_back(layer_object(layer, "Reshape", {{"target_shape", shape->target_shape()}}));
  else if (const auto* permuted = dynamic_cast<const nn::Permute*>(&layer))
    layers.push_back(layer_object(layer, "Permute", {{"dims", permuted->dims()}}));
  else if (const auto* steps = dynamic_cast<const nn::TimeDistributed*>(&layer))
    layers.push_back(
        layer_object(layer, "TimeDistributed", {{"layer", inner_object(steps->layer())}}));
  else if (const auto* norm = dynamic_cast<const nn::SpectralNormalization*>(&layer))
    layers.push_back(layer_object(
        layer, "SpectralNormalization",
        {{"layer", inner_object(norm->layer())}, {"power_iterations", norm->power_iterations()}}));
  else
    return false;
  return true;
}

/// Returns sizes with null in place of -1, which stands for an unknown size.
DISTRIBUTE_INLINE Json sizes_or_none(const std::vector<int64_t>& sizes) {
  Json all = Json::array();
  for (const int64_t size : sizes) all.push_back(size < 0 ? Json(nullptr) : Json(size));
  return all;
}

DISTRIBUTE_INLINE bool add_product(const nn::Module& layer, Json& layers) {
  if (const auto* dense = dynamic_cast<const nn::Dense*>(&layer)) {
    const auto& o = dense->options();
    Json config = {{"units", o.units},
                   {"activation", activation_name(layer, o.activation)},
                   {"use_bias", o.use_bias},
                   {"kernel_regularizer", regularizer_object(o.kernel_regularizer)},
                   {"bias_regularizer", regularizer_object(o.bias_regularizer)},
                   {"kernel_constraint", constraint_object(o.kernel_constraint)},
                   {"bias_constraint", constraint_object(o.bias_constraint)}};
    add_lora(*dense, config);
    layers.push_back(layer_object(layer, "Dense", std::move(config)));
    return true;
  }
  const auto* einsum = dynamic_cast<const nn::EinsumDense*>(&layer);
  if (!einsum) return false;
  const auto& o = einsum->options();
  Json config = {{"equation", o.equation},
                 {"output_shape", sizes_or_none(o.output_shape)},
                 {"activation", activation_name(layer, o.activation)},
                 {"bias_axes", o.bias_axes.empty() ? Json(nullptr) : Json(o.bias_axes)},
                 {"kernel_regularizer", regularizer_object(o.kernel_regularizer)},
                 {"bias_regularizer", regularizer_object(o.bias_regularizer)},
                 {"kernel_constraint", constraint_object(o.kernel_constraint)},
                 {"bias_constraint", constraint_object(o.bias_constraint)}};
  add_lora(*einsum, config);
  layers.push_back(layer_object(layer, "EinsumDense", std::move(config)));
  return true;
}

DISTRIBUTE_INLINE bool add_merging(const nn::Module& layer, Json& layers) {
  if (const auto* joined = dynamic_cast<const nn::Concatenate*>(&layer)) {
    layers.push_back(layer_object(layer, "Concatenate", {{"axis", joined->axis()}}));
    return true;
  }
  if (const auto* dot = dynamic_cast<const nn::Dot*>(&layer)) {
    layers.push_back(layer_object(
        layer, "Dot", {{"axes", dot->options().axes}, {"normalize", dot->options().normalize}}));
    return true;
  }
  if (!dynamic_cast<const nn::Merge*>(&layer)) return false;
  std::string name = layer.class_name();
  name[0] = char(std::toupper(name[0]));
  if (dynamic_cast<const OperationMerge*>(&layer)) {
    layers.push_back(keras_object("keras.src.ops.numpy", name, {{"name", layer.name()}}));
    return true;
  }
  layers.push_back(layer_object(layer, name, Json::object()));
  return true;
}

DISTRIBUTE_INLINE void add_layer(const nn::Module& layer, Json& layers) {
  if (const auto* inner = dynamic_cast<const nn::Sequential*>(&layer))
    layers.push_back(sequential_object(*inner));
  else if (const auto* graph = dynamic_cast<const nn::Functional*>(&layer))
    layers.push_back(functional_object(*graph));
  else if (!add_product(layer, layers) && !add_image_layer(layer, layers) &&
           !add_sequence_layer(layer, layers) && !add_normalization(layer, layers) &&
           !add_activation(layer, layers) && !add_noise(layer, layers) &&
           !add_reshaping(layer, layers) && !add_merging(layer, layers) &&
           !add_preprocessing_layer(layer, layers))
    refuse_layer(layer, str_cat("is a ", layer.class_name(), ", which has no configuration here"));
}

}  // namespace distribute::saving_internal
