#pragma once
/// Named variables and named parts of an object: what a checkpoint walks.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// Base of modules, optimizers, metrics and whatever else is saved. Thread-compatible.
/// Source  tf.train.Checkpoint's trackable objects
class Trackable {
 public:
  struct Child {
    std::string name;  // edge name, such as "conv1"
    const Trackable* object;
  };
  struct NamedVariable {
    std::string name;  // edge name, such as "kernel"
    Variable variable;
  };
  /// A variable that an optimizer keeps for another one.
  struct SlotVariable {
    Variable original;
    std::string slot_name;  // such as "momentum", "m"
    Variable variable;
  };
  /// Gives the saved value of a variable that is being created under `name` on `owner`; none
  /// when the checkpoint has none. Slots are asked for as "<slot name>" with their original.
  using Restorer = std::function<std::optional<Tensor>(const Trackable& owner,
                                                       const std::string& name,
                                                       const Variable& original)>;

  virtual ~Trackable() = default;
  virtual std::vector<NamedVariable> own_variables() const { return {}; }
  virtual std::vector<Child> children() const { return {}; }
  virtual std::vector<SlotVariable> slot_variables() const { return {}; }

  /// Deferred restoration: variables created from now on take their first value from here.
  void set_restorer(Restorer restorer) const { restorer_ = std::move(restorer); }

 protected:
  Trackable() = default;
  Trackable(const Trackable&) = default;
  Trackable& operator=(const Trackable&) = default;

  /// The saved value if a restorer has one, else `initial_value()`. Call when creating a variable.
  Tensor restored_or(const std::string& name, const Variable::Initializer& initial_value,
                     const Variable& original = {}) const {
    if (restorer_)
      if (std::optional<Tensor> saved = restorer_(*this, name, original)) return *saved;
    return initial_value();
  }

 private:
  mutable Restorer restorer_;
};

}  // namespace distribute
