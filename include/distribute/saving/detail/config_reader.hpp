#pragma once
/// Reads the options of one layer in a configuration of Keras, each of which must be read.

#include <distribute/base/error.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/activation.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace distribute {
enum class Padding : uint8_t;
}
namespace distribute::nn {
class Module;
struct Size2D;
struct Size3D;
}  // namespace distribute::nn

namespace distribute::saving_internal {

/// Reader of a layer's options. Thread-compatible.
class ConfigReader {
 public:
  using Json = nlohmann::ordered_json;

  /// `object` is {"class_name", "config"} and must outlive the reader.
  explicit ConfigReader(const Json& object);

  const std::string& class_name() const { return class_name_; }
  /// Returns "layer 'dense' (Dense)".
  std::string where() const;
  /// Throws  UnimplementedError: "layer 'dense' (Dense): <what> is not known here".
  [[noreturn]] void refuse(const std::string& what) const;

  /// Reads an option. T is bool, int, int64_t, double, std::string, or a vector of int or int64_t.
  template <typename T>
  T get(const std::string& key, T otherwise);
  std::optional<double> maybe_number(const std::string& key);
  nn::ActivationFunction activation(const std::string& key = "activation");
  std::optional<nn::Size2D> maybe_pair(const std::string& key);
  nn::Size2D pair(const std::string& key);  // 1 x 1 if it is missing
  /// Reads a size of one, two or three numbers, which a single one may stand for; leaves it alone
  /// if the option is missing.
  void size(const std::string& key, int64_t& to);
  void size(const std::string& key, nn::Size2D& to);
  void size(const std::string& key, nn::Size3D& to);
  template <typename Size>
  void size(const std::string& key, std::optional<Size>& to) {
    Size given = 1;
    if (!find(key)) return;
    size(key, given);
    to = given;
  }
  /// Reads a number, or a list of one.
  int64_t single(const std::string& key, int64_t otherwise);
  /// Reads L1, L2 or L1L2.
  nn::Regularizer regularizer(const std::string& key);
  /// Reads MaxNorm, NonNeg, UnitNorm or MinMaxNorm.
  nn::Constraint constraint(const std::string& key);
  /// Reads "valid" or "same".
  Padding padding();
  /// Reads the options lora_rank and lora_alpha.
  template <typename Options>
  void lora(Options& options) {
    options.lora_alpha = maybe_number("lora_alpha");
    if (const auto rank = get<int64_t>("lora_rank", 0)) options.lora_rank = rank;
  }
  /// Returns an option that is present and not null.
  const Json* find(const std::string& key);
  /// Sets the options that all layers have, and refuses options that were not read, unless they
  /// have no effect here: initializers, null, false, and options that have only one possible value
  /// here.
  void finish(nn::Module& layer);

 private:
  const Json& config_;
  std::string class_name_, name_;
  std::set<std::string> asked_;
};

}  // namespace distribute::saving_internal
