#pragma once
/// The options of one layer in a configuration of Keras, each of which must be asked for.

#include <distribute/base/error.hpp>
#include <distribute/nn/constraints.hpp>
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
}  // namespace distribute::nn

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

  /// T is bool, int, int64_t, double, std::string, or a vector of int or int64_t.
  template <typename T>
  T get(const std::string& key, T otherwise);
  std::optional<double> maybe_number(const std::string& key);
  nn::ActivationFunction activation(const std::string& key = "activation");
  std::optional<nn::Size2D> maybe_pair(const std::string& key);
  nn::Size2D pair(const std::string& key);  // 1 x 1 where there is none
  /// A number, or a list of one.
  int64_t single(const std::string& key, int64_t otherwise);
  /// L1, L2 or L1L2.
  nn::Regularizer regularizer(const std::string& key);
  /// MaxNorm, NonNeg, UnitNorm or MinMaxNorm.
  nn::Constraint constraint(const std::string& key);
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
