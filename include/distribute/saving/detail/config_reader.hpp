#pragma once
/// The options of one layer in a configuration of Keras, each of which must be asked for.

#include <distribute/base/error.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/ops/window.hpp>

#include <optional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

/// Thread-compatible.
class ConfigReader {
 public:
  using Json = nlohmann::ordered_json;

  /// `object`: {"class_name", "config"}, which must outlive this.
  explicit ConfigReader(const Json& object);

  const std::string& class_name() const { return class_name_; }
  /// "layer 'dense' (Dense)".
  std::string where() const;
  /// Throws  UnimplementedError: "layer 'dense' (Dense): <what> is not known here".
  [[noreturn]] void refuse(const std::string& what) const;

  template <typename T>
  T get(const std::string& key, T otherwise) {
    const Json* value = find(key);
    return value ? value->get<T>() : otherwise;
  }
  template <typename T>
  std::optional<T> maybe(const std::string& key) {
    const Json* value = find(key);
    return value ? std::optional<T>(value->get<T>()) : std::nullopt;
  }
  nn::ActivationFunction activation(const std::string& key = "activation");
  std::optional<nn::Size2D> maybe_pair(const std::string& key);
  nn::Size2D pair(const std::string& key) { return maybe_pair(key).value_or(1); }
  /// "valid" or "same".
  Padding padding();
  /// What is there and not null.
  const Json* find(const std::string& key);
  /// Gives the layer what all layers have, and refuses options that were not asked for, unless they
  /// say nothing: initializers, none, false, and what is one way only here.
  void finish(nn::Module& layer);

 private:
  const Json& config_;
  std::string class_name_, name_;
  std::set<std::string> asked_;
};

}  // namespace distribute::saving_internal
