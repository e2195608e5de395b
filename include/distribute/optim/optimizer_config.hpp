#pragma once
/// What an optimizer is made of: its configuration, and the function that changes each element.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gpu_update.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::optim {

class LearningRate;

/// An optimizer within another one, as serialize() writes it, or a schedule as Keras does.
struct OptimizerText {
  std::string json;
  bool operator==(const OptimizerText&) const = default;
};

/// A number, a switch, a text or an optimizer; an empty value stands for Python's None.
/// Source  tf.keras.optimizers.Optimizer.get_config
class OptimizerConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string, OptimizerText>;

  /// All values by name. set() adds a value; set_optional() does so only when there is one.
  const std::map<std::string, Value>& values() const { return values_; }
  void set(const std::string& name, Value value);
  void set_optional(const std::string& name, std::optional<double> value);
  /// Sets `out` to the value of this name, or to nothing when that value is empty. `out` stays
  /// unchanged when there is no such value.
  /// Throws  InvalidArgumentError for a value of another kind.
  void get(const std::string& name, double& out) const;
  void get(const std::string& name, bool& out) const;
  void get(const std::string& name, std::string& out) const;
  void get(const std::string& name, OptimizerText& out) const;
  void get(const std::string& name, LearningRate& out) const;  // a number or a schedule's text
  void get(const std::string& name, std::optional<double>& out) const;
  void get(const std::string& name, std::optional<int64_t>& out) const;
  /// Returns the names of values that are not empty and were read by no get().
  std::vector<std::string> unread() const;

 private:
  std::map<std::string, Value> values_;
  mutable std::set<std::string> read_;  // names that get() was asked for
};

/// Updates `count` neighbouring elements of weights and slots in place; slots are in the order of
/// Optimizer::slots(). It must be elementwise, because threads take any parts of a variable. A
/// kernel can also hold the same formula for GPUs; without it the optimizer's variables must be on
/// the CPU. Kernels can be copied.
class ElementKernel {
 public:
  using Function = std::function<void(float* weights, float* const* slots, const float* gradient,
                                      int64_t count)>;

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, ElementKernel> &&
           std::constructible_from<Function, F>) ElementKernel(F&& function, GpuFormula gpu = {})
      : function_(std::forward<F>(function)), gpu_(gpu) {}

  void operator()(float* weights, float* const* slots, const float* gradient, int64_t count) const {
    function_(weights, slots, gradient, count);
  }
  /// Returns the same formula for GPUs.
  const GpuFormula& gpu() const { return gpu_; }

 private:
  Function function_;
  GpuFormula gpu_;
};

}  // namespace distribute::optim
