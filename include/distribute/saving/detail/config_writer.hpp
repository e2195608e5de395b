#pragma once
/// What all descriptions of layers for Keras are made with.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/constraints.hpp>
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
}

namespace distribute::saving_internal {

/// Functions under Keras's names.
std::vector<std::pair<nn::ActivationFunction, const char*>> activations();

/// Throws  UnimplementedError: "save_model: layer 'dense' <what>; save_weights ...".
[[noreturn]] void refuse_layer(const nn::Module& layer, const std::string& what);
/// Throws  UnimplementedError for a function that Keras has no name for.
std::string activation_name(const nn::Module& layer, nn::ActivationFunction function);
/// "same" or "valid". Throws  UnimplementedError for an explicit padding.
std::string padding_name(const nn::Module& layer, Padding padding);

/// {"module", "class_name", "config", "registered_name"}.
nlohmann::ordered_json keras_object(const std::string& module, const std::string& name,
                                    nlohmann::ordered_json config);
/// One layer with its name and its policy.
nlohmann::ordered_json layer_object(const nn::Module& layer, const std::string& name,
                                    nlohmann::ordered_json config);
/// null where there is no penalty. Source  tf.keras.regularizers.L1L2
nlohmann::ordered_json regularizer_object(const nn::Regularizer& regularizer);
/// Null for none.
nlohmann::ordered_json constraint_object(const nn::Constraint& constraint);
/// [height, width].
nlohmann::ordered_json pair_of(const nn::Size2D& size);
/// [null, 28, 28]: sizes with `batch` in front instead of the first one.
nlohmann::ordered_json batch_shape(const Shape& sizes, std::optional<int64_t> batch);

}  // namespace distribute::saving_internal
