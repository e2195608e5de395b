#pragma once
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_reader.hpp>
#include <distribute/saving/detail/layer_maker.hpp>
#include <distribute/saving/detail/operation_merge.hpp>
#include <distribute/saving/detail/preprocessing_layers.hpp>

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE void read_axes(ConfigReader& r, nn::NormalizedAxes& axes) {
  if (const auto* axis = r.find("axis"))
    axes.list =
        axis->is_array() ? axis->get<std::vector<int>>() : std::vector<int>{axis->get<int>()};
}

DISTRIBUTE_INLINE nn::RenormClipping renorm_clipping(ConfigReader& r) {
  nn::RenormClipping clipping;
  const auto* limits = r.find("renorm_clipping");
  if (!limits) return clipping;
  for (const auto& [name, limit] : limits->items()) {
    std::optional<double>* const wanted = name == "rmax"   ? &clipping.rmax
                                          : name == "rmin" ? &clipping.rmin
                                          : name == "dmax" ? &clipping.dmax
                                                           : nullptr;
    if (!wanted) r.refuse("renorm_clipping with '" + name + "'");
    if (!limit.is_null()) *wanted = limit.template get<double>();
  }
  return clipping;
}

DISTRIBUTE_INLINE void add_normalizations(LayerMakers& makers) {
  makers["BatchNormalization"] = [](auto& r) {
    nn::BatchNormalizationOptions o;
    o.renorm = r.get("renorm", false);
    o.renorm_momentum = r.get("renorm_momentum", 0.99);
    o.renorm_clipping = renorm_clipping(r);
    o.axis = int(r.single("axis", -1));
    o.momentum = r.get("momentum", 0.99);
    o.epsilon = r.get("epsilon", 1e-3);
    o.center = r.get("center", true);
    o.scale = r.get("scale", true);
    o.synchronized = r.get("synchronized", false);
    o.beta_regularizer = r.regularizer("beta_regularizer");
    o.gamma_regularizer = r.regularizer("gamma_regularizer");
    o.beta_constraint = r.constraint("beta_constraint");
    o.gamma_constraint = r.constraint("gamma_constraint");
    return made<nn::BatchNormalization>(o);
  };
  makers["UnitNormalization"] = [](auto& r) {
    nn::UnitNormalizationOptions o;
    read_axes(r, o.axis);
    return made<nn::UnitNormalization>(o);
  };
  makers["LayerNormalization"] = [](auto& r) {
    nn::LayerNormalizationOptions o;
    read_axes(r, o.axis);
    o.epsilon = r.get("epsilon", 1e-3);
    o.center = r.get("center", true);
    o.scale = r.get("scale", true);
    o.beta_regularizer = r.regularizer("beta_regularizer");
    o.gamma_regularizer = r.regularizer("gamma_regularizer");
    o.beta_constraint = r.constraint("beta_constraint");
    o.gamma_constraint = r.constraint("gamma_constraint");
    return made<nn::LayerNormalization>(o);
  };
  makers["GroupNormalization"] = [](auto& r) {
    nn::GroupNormalizationOptions o;
    o.axis = int(r.single("axis", -1));
    o.groups = r.template get<int64_t>("groups", 32);
    o.epsilon = r.get("epsilon", 1e-3);
    o.center = r.get("center", true);
    o.scale = r.get("scale", true);
    o.beta_regularizer = r.regularizer("beta_regularizer");
    o.gamma_regularizer = r.regularizer("gamma_regularizer");
    o.beta_constraint = r.constraint("beta_constraint");
    o.gamma_constraint = r.constraint("gamma_constraint");
    return made<nn::GroupNormalization>(o);
  };
  makers["LayerScale"] = [](auto& r) {
    return made<nn::LayerScale>(
        nn::LayerScaleOptions{.init_values = r.get("init_values", 1e-6),
                              .projection_dim = r.template get<int64_t>("projection_dim", 0)});
  };
  makers["RMSNormalization"] = [](auto& r) {
    return made<nn::RMSNormalization>(nn::RMSNormalizationOptions{
        .axis = int(r.single("axis", -1)), .epsilon = r.get("epsilon", 1e-6)});
  };
}

DISTRIBUTE_INLINE void add_functions(LayerMakers& makers) {
  makers["Activation"] = [](auto& r) { return made<nn::Activation>(r.activation()); };
  makers["ReLU"] = [](auto& r) {
    nn::ReLUOptions o;
    o.max_value = r.maybe_number("max_value");
    o.negative_slope = r.get("negative_slope", 0.0);
    o.threshold = r.get("threshold", 0.0);
    return made<nn::ReLU>(o);
  };
  makers["LeakyReLU"] = [](auto& r) {
    return made<nn::LeakyReLU>(
        nn::LeakyReLUOptions{.negative_slope = r.get("negative_slope", 0.3)});
  };
  makers["PReLU"] = [](auto& r) {
    nn::PReLUOptions o;
    o.shared_axes = r.get("shared_axes", std::vector<int>());
    o.alpha_regularizer = r.regularizer("alpha_regularizer");
    o.alpha_constraint = r.constraint("alpha_constraint");
    return made<nn::PReLU>(o);
  };
  makers["Softmax"] = [](auto& r) {
    return made<nn::Softmax>(nn::SoftmaxOptions{.axis = r.get("axis", -1)});
  };
  makers["ELU"] = [](auto& r) {
    return made<nn::ELU>(nn::ELUOptions{.alpha = r.get("alpha", 1.0)});
  };
  makers["Identity"] = [](auto&) { return made<nn::Identity>(); };
  makers["ActivityRegularization"] = [](auto& r) {
    r.find("activity_regularizer");  // says the same
    return made<nn::ActivityRegularization>(
        nn::ActivityRegularizationOptions{.l1 = r.get("l1", 0.0), .l2 = r.get("l2", 0.0)});
  };
}

template <typename Layer>
LayerMaker dropout_maker() {
  return [](ConfigReader& r) {
    nn::DropoutOptions o{.rate = r.get("rate", 0.5)};
    if (const auto* sizes = r.find("noise_shape"))
      for (const auto& size : *sizes)
        o.noise_shape.push_back(size.is_null() ? std::nullopt : std::optional(size.get<int64_t>()));
    return made<Layer>(o);
  };
}

DISTRIBUTE_INLINE void add_noises(LayerMakers& makers) {
  makers["Dropout"] = dropout_maker<nn::Dropout>();
  makers["AlphaDropout"] = dropout_maker<nn::AlphaDropout>();
  makers["GaussianDropout"] = dropout_maker<nn::GaussianDropout>();
  makers["SpatialDropout1D"] = dropout_maker<nn::SpatialDropout1D>();
  makers["SpatialDropout2D"] = dropout_maker<nn::SpatialDropout2D>();
  makers["SpatialDropout3D"] = dropout_maker<nn::SpatialDropout3D>();
  makers["GaussianNoise"] = [](auto& r) { return made<nn::GaussianNoise>(r.get("stddev", 0.0)); };
}

DISTRIBUTE_INLINE nn::Interpolation interpolation(ConfigReader& r, const char* otherwise) {
  const std::string name = r.get<std::string>("interpolation", otherwise);
  if (name == "nearest") return nn::Interpolation::Nearest;
  if (name == "bilinear") return nn::Interpolation::Bilinear;
  if (name == "bicubic") return nn::Interpolation::Bicubic;
  if (name == "lanczos3") return nn::Interpolation::Lanczos3;
  if (name == "lanczos5") return nn::Interpolation::Lanczos5;
  r.refuse("interpolation '" + name + "'");
}

DISTRIBUTE_INLINE void add_shapes(LayerMakers& makers) {
  makers["Flatten"] = [](auto&) { return made<nn::Flatten>(); };
  makers["Reshape"] = [](auto& r) {
    return made<nn::Reshape>(r.get("target_shape", std::vector<int64_t>()));
  };
  makers["Permute"] = [](auto& r) { return made<nn::Permute>(r.get("dims", std::vector<int>())); };
  makers["UpSampling1D"] = [](auto& r) { return made<nn::UpSampling1D>(r.single("size", 2)); };
  makers["UpSampling3D"] = [](auto& r) {
    nn::Size3D size = 2;
    r.size("size", size);
    return made<nn::UpSampling3D>(size);
  };
  makers["CenterCrop"] = [](auto& r) {
    return made<nn::CenterCrop>(
        nn::CenterCropOptions{.height = r.template get<int64_t>("height", 0),
                              .width = r.template get<int64_t>("width", 0)});
  };
  makers["UpSampling2D"] = [](auto& r) {
    return made<nn::UpSampling2D>(r.pair("size"), interpolation(r, "nearest"));
  };
  makers["Resizing"] = [](auto& r) {
    nn::ResizingOptions o;
    o.height = r.template get<int64_t>("height", 0);
    o.width = r.template get<int64_t>("width", 0);
    o.interpolation = interpolation(r, "bilinear");
    o.crop_to_aspect_ratio = r.get("crop_to_aspect_ratio", false);
    o.pad_to_aspect_ratio = r.get("pad_to_aspect_ratio", false);
    o.fill_value = r.get("fill_value", 0.0);
    o.antialias = r.get("antialias", false);
    if (r.template get<std::string>("fill_mode", "constant") != "constant")
      r.refuse("this fill_mode");
    return made<nn::Resizing>(o);
  };
}

DISTRIBUTE_INLINE std::map<std::string, nn::MergeFunction> merge_functions() {
  using F = nn::MergeFunction;
  return {{"Add", F::Add},         {"Subtract", F::Subtract}, {"Multiply", F::Multiply},
          {"Average", F::Average}, {"Maximum", F::Maximum},   {"Minimum", F::Minimum}};
}

DISTRIBUTE_INLINE void add_merges(LayerMakers& makers) {
  for (const auto& [name, function] : merge_functions())
    makers[name] = [function = function](auto&) { return made<nn::Merge>(function); };
  makers["Concatenate"] = [](auto& r) {
    return made<nn::Concatenate>(nn::ConcatenateOptions{.axis = r.get("axis", -1)});
  };
  makers["Dot"] = [](auto& r) {
    nn::DotOptions o;
    const auto* axes = r.find("axes");
    if (!axes) r.refuse("no axes");
    o.axes = axes->is_number()
                 ? std::array<int, 2>{axes->template get<int>(), axes->template get<int>()}
                 : axes->template get<std::array<int, 2>>();
    o.normalize = r.get("normalize", false);
    return made<nn::Dot>(o);
  };
}

DISTRIBUTE_INLINE MadeLayer make_einsum_dense(ConfigReader& r) {
  nn::EinsumDenseOptions o;
  o.equation = r.get<std::string>("equation", "");
  o.bias_axes = r.get<std::string>("bias_axes", "");
  o.activation = r.activation();
  o.kernel_regularizer = r.regularizer("kernel_regularizer");
  o.bias_regularizer = r.regularizer("bias_regularizer");
  o.kernel_constraint = r.constraint("kernel_constraint");
  o.bias_constraint = r.constraint("bias_constraint");
  if (const auto* sizes = r.find("output_shape"); sizes && sizes->is_number())
    o.output_shape = {sizes->get<int64_t>()};
  else if (sizes)
    for (const auto& size : *sizes)
      o.output_shape.push_back(size.is_null() ? -1 : size.get<int64_t>());
  r.lora(o);
  return made<nn::EinsumDense>(o);
}

DISTRIBUTE_INLINE void add_products(LayerMakers& makers) {
  makers["Dense"] = [](auto& r) {
    nn::DenseOptions o;
    o.units = r.template get<int64_t>("units", 0);
    o.activation = r.activation();
    o.use_bias = r.get("use_bias", true);
    o.kernel_regularizer = r.regularizer("kernel_regularizer");
    o.bias_regularizer = r.regularizer("bias_regularizer");
    o.activity_regularizer = r.regularizer("activity_regularizer");
    o.kernel_constraint = r.constraint("kernel_constraint");
    o.bias_constraint = r.constraint("bias_constraint");
    r.lora(o);
    return made<nn::Dense>(o);
  };
  makers["EinsumDense"] = make_einsum_dense;
  makers["TimeDistributed"] = [](auto& r) {
    const auto* inner = r.find("layer");
    if (!inner) r.refuse("a wrapper without a layer");
    return made<nn::TimeDistributed>(make_layer(*inner));
  };
  makers["SpectralNormalization"] = [](auto& r) {
    const auto* inner = r.find("layer");
    if (!inner) r.refuse("a wrapper without a layer");
    const auto iterations = r.template get<int64_t>("power_iterations", 1);
    return made<nn::SpectralNormalization>(
        make_layer(*inner), nn::SpectralNormalizationOptions{.power_iterations = iterations});
  };
}

DISTRIBUTE_INLINE const LayerMakers& layer_makers() {
  static const LayerMakers makers = [] {
    LayerMakers all;
    add_products(all);
    add_image_makers(all);
    add_sequence_makers(all);
    add_noises(all);
    add_preprocessing_makers(all);
    add_normalizations(all);
    add_functions(all);
    add_shapes(all);
    add_merges(all);
    return all;
  }();
  return makers;
}

DISTRIBUTE_INLINE bool is_operation(const ConfigReader::Json& object) {
  return object.value("module", ConfigReader::Json()).dump().starts_with("\"keras.src.ops");
}

DISTRIBUTE_INLINE MadeLayer make_operation(ConfigReader& reader) {
  const auto functions = merge_functions();
  const auto function = functions.find(reader.class_name());
  if (function == functions.end()) reader.refuse("the operation");
  return made<OperationMerge>(function->second);
}

DISTRIBUTE_INLINE MadeLayer make_layer(const ConfigReader::Json& object) {
  ConfigReader reader(object);
  if (is_operation(object)) {
    MadeLayer operation = make_operation(reader);
    reader.finish(*operation);
    return operation;
  }
  const auto maker = layer_makers().find(reader.class_name());
  if (maker == layer_makers().end()) reader.refuse("the layer");
  MadeLayer layer = maker->second(reader);
  reader.finish(*layer);
  return layer;
}

}  // namespace distribute::saving_internal
