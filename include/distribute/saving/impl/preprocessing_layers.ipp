#pragma once
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/preprocessing/random_images.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/preprocessing_layers.hpp>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

inline constexpr std::array<const char*, 4> kFillModes = {"reflect", "wrap", "constant", "nearest"};
inline constexpr std::array<const char*, 2> kInterpolations = {"bilinear", "nearest"};
inline constexpr std::array<const char*, 3> kFlipModes = {"horizontal_and_vertical", "horizontal",
                                                          "vertical"};

/// Returns a number, a list, or null for an empty tensor.
DISTRIBUTE_INLINE Json json_of(const Tensor& values) {
  if (!values) return nullptr;
  const std::vector<float> all = values.to_vector();
  return values.shape().rank() == 0 ? Json(all[0]) : Json(all);
}

DISTRIBUTE_INLINE Json json_of(const preprocessing::FactorRange& range) {
  return {range.low, range.high};
}

template <typename Options>
Json transform_config(const Options& o) {
  return {{"fill_mode", kFillModes[size_t(o.fill_mode)]},
          {"interpolation", kInterpolations[size_t(o.interpolation)]},
          {"fill_value", o.fill_value}};
}

DISTRIBUTE_INLINE bool add_random_images(const nn::Module& layer, Json& layers) {
  using namespace preprocessing;
  Json config;
  const char* name = nullptr;
  if (const auto* flip = dynamic_cast<const RandomFlip*>(&layer)) {
    name = "RandomFlip";
    config = {{"mode", kFlipModes[size_t(flip->mode())]}};
  } else if (const auto* rotation = dynamic_cast<const RandomRotation*>(&layer)) {
    name = "RandomRotation";
    config = transform_config(rotation->options());
    config["factor"] = json_of(rotation->options().factor);
  } else if (const auto* zoom = dynamic_cast<const RandomZoom*>(&layer)) {
    name = "RandomZoom";
    const auto& width = zoom->options().width_factor;
    config = transform_config(zoom->options());
    config["height_factor"] = json_of(zoom->options().height_factor);
    config["width_factor"] = width ? json_of(*width) : Json(nullptr);
  } else if (const auto* moved = dynamic_cast<const RandomTranslation*>(&layer)) {
    name = "RandomTranslation";
    config = transform_config(moved->options());
    config["height_factor"] = json_of(moved->options().height_factor);
    config["width_factor"] = json_of(moved->options().width_factor);
  } else if (const auto* contrast = dynamic_cast<const RandomContrast*>(&layer)) {
    name = "RandomContrast";
    config = {{"factor", json_of(contrast->options().factor)},
              {"value_range", contrast->options().value_range}};
  } else {
    return false;
  }
  layers.push_back(layer_object(layer, name, std::move(config)));
  return true;
}

DISTRIBUTE_INLINE bool add_preprocessing_layer(const nn::Module& layer, Json& layers) {
  if (const auto* scaled = dynamic_cast<const preprocessing::Rescaling*>(&layer)) {
    const auto& o = scaled->options();
    layers.push_back(layer_object(layer, "Rescaling",
                                  {{"scale", json_of(o.scale)}, {"offset", json_of(o.offset)}}));
    return true;
  }
  const auto* norm = dynamic_cast<const preprocessing::Normalization*>(&layer);
  if (!norm) return add_random_images(layer, layers);
  const auto& o = norm->options();
  layers.push_back(layer_object(layer, "Normalization",
                                {{"axis", o.axis.empty() ? Json(nullptr) : Json(o.axis)},
                                 {"invert", o.invert},
                                 {"mean", json_of(o.mean)},
                                 {"variance", json_of(o.variance)}}));
  return true;
}

/// A number or a list; none: `otherwise`.
DISTRIBUTE_INLINE Tensor numbers_of(ConfigReader& r, const std::string& key,
                                    Tensor otherwise = {}) {
  const auto* value = r.find(key);
  if (!value) return otherwise;
  if (value->is_number()) return value->get<float>();
  const auto list = value->get<std::vector<float>>();
  return Tensor(Shape{int64_t(list.size())}, list);
}

/// A number, or from where to where.
DISTRIBUTE_INLINE preprocessing::FactorRange range_of(ConfigReader& r, const std::string& key) {
  const auto* value = r.find(key);
  if (!value) return {};
  if (value->is_number()) return value->get<double>();
  return {value->at(0).get<double>(), value->at(1).get<double>()};
}

/// The place of an option's text in a list of names.
template <typename Enum, size_t kCount>
Enum named(ConfigReader& r, const std::string& key, const std::array<const char*, kCount>& names) {
  const std::string name = r.get<std::string>(key, names[0]);
  for (size_t i = 0; i < kCount; ++i)
    if (name == names[i]) return Enum(i);
  r.refuse(str_cat(key, " '", name, "'"));
}

template <typename Options>
Options transform_options(ConfigReader& r) {
  Options o;
  o.fill_mode = named<preprocessing::FillMode>(r, "fill_mode", kFillModes);
  o.interpolation = named<preprocessing::Interpolation>(r, "interpolation", kInterpolations);
  o.fill_value = float(r.get("fill_value", 0.0));
  return o;
}

DISTRIBUTE_INLINE void add_random_makers(LayerMakers& makers) {
  using namespace preprocessing;
  makers["RandomFlip"] = [](auto& r) {
    return made<RandomFlip>(named<FlipMode>(r, "mode", kFlipModes));
  };
  makers["RandomRotation"] = [](auto& r) {
    auto o = transform_options<RandomRotationOptions>(r);
    o.factor = range_of(r, "factor");
    return made<RandomRotation>(o);
  };
  makers["RandomZoom"] = [](auto& r) {
    auto o = transform_options<RandomZoomOptions>(r);
    o.height_factor = range_of(r, "height_factor");
    if (r.find("width_factor")) o.width_factor = range_of(r, "width_factor");
    return made<RandomZoom>(o);
  };
  makers["RandomTranslation"] = [](auto& r) {
    auto o = transform_options<RandomTranslationOptions>(r);
    o.height_factor = range_of(r, "height_factor");
    o.width_factor = range_of(r, "width_factor");
    return made<RandomTranslation>(o);
  };
  makers["RandomContrast"] = [](auto& r) {
    RandomContrastOptions o;
    o.factor = range_of(r, "factor");
    if (const auto* range = r.find("value_range"))
      o.value_range = range->template get<std::array<float, 2>>();
    return made<RandomContrast>(o);
  };
}

DISTRIBUTE_INLINE MadeLayer make_normalization(ConfigReader& r) {
  preprocessing::NormalizationOptions o;
  const auto* axis = r.find("axis");
  o.axis.clear();
  if (axis && axis->is_number())
    o.axis = {axis->get<int64_t>()};
  else if (axis)
    o.axis = axis->get<std::vector<int64_t>>();
  o.mean = numbers_of(r, "mean");
  o.variance = numbers_of(r, "variance");
  o.invert = r.get("invert", false);
  return made<preprocessing::Normalization>(o);
}

DISTRIBUTE_INLINE void add_preprocessing_makers(LayerMakers& makers) {
  makers["Normalization"] = make_normalization;
  makers["Rescaling"] = [](auto& r) {
    return made<preprocessing::Rescaling>(preprocessing::RescalingOptions{
        .scale = numbers_of(r, "scale", 1.0f), .offset = numbers_of(r, "offset", 0.0f)});
  };
  add_random_makers(makers);
  for (const char* name : {"CategoryEncoding", "Discretization", "HashedCrossing", "Hashing",
                           "IntegerLookup", "StringLookup", "TextVectorization"})
    makers[name] = [](ConfigReader& r) -> MadeLayer {
      throw UnimplementedError(str_cat("load_model: ", r.where(), " is called in a map of the ",
                                       "dataset here (preprocessing::), not in a model; save the ",
                                       "model that begins behind it, and load that"));
    };
}

}  // namespace distribute::saving_internal
