#pragma once
/// Functions with which layers are described for Keras.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace distribute {
enum class Padding : uint8_t;
}
namespace distribute::nn {
struct Size2D;
struct Size3D;
}  // namespace distribute::nn

namespace distribute::saving_internal {

/// Throws  UnimplementedError: "save_model: layer 'dense' <what>; save_weights ...".
[[noreturn]] void refuse_layer(const nn::Module& layer, const std::string& what);
/// Returns the name in Keras. Throws  UnimplementedError for a function that Keras does not have.
std::string activation_name(const nn::Module& layer, nn::ActivationFunction function);
/// Returns "same" or "valid". Throws  UnimplementedError for an explicit padding.
std::string padding_name(const nn::Module& layer, Padding padding);

/// Returns {"module", "class_name", "config", "registered_name"}.
nlohmann::ordered_json keras_object(const std::string& module, const std::string& name,
                                    nlohmann::ordered_json config);
/// Adds the rank and the alpha of a layer with LoRA.
void add_lora(const nn::LoraLayer& layer, nlohmann::ordered_json& config);
/// Returns one layer with its name and its policy.
nlohmann::ordered_json layer_object(const nn::Module& layer, const std::string& name,
                                    nlohmann::ordered_json config);
/// Returns null without a penalty. Source  tf.keras.regularizers.L1L2
nlohmann::ordered_json regularizer_object(const nn::Regularizer& regularizer);
/// Returns null without a constraint.
nlohmann::ordered_json constraint_object(const nn::Constraint& constraint);
/// Returns [height, width].
nlohmann::ordered_json pair_of(const nn::Size2D& size);
/// Returns [depth, height, width].
nlohmann::ordered_json pair_of(const nn::Size3D& size);
/// Returns [null, 28, 28]: the sizes, with `batch` in place of the first one.
nlohmann::ordered_json batch_shape(const Shape& sizes, std::optional<int64_t> batch);

}  // namespace distribute::saving_internal
