#pragma once
/// Named variables and named parts of an object: what a checkpoint walks.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute {

/// Is the base of modules, optimizers, metrics and whatever else is saved. Thread-compatible.
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
  /// A variable that an optimizer keeps for another variable.
  struct SlotVariable {
    Variable original;
    std::string slot_name;  // such as "momentum", "m"
    Variable variable;
  };

  /// Holds the values of a checkpoint for variables and parts that do not exist yet. Thread-safe.
  class Restorer {
   public:
    virtual ~Restorer() = default;
    /// Assigns the saved value, if there is one, to the variable just created under `name`. Slots
    /// are named by their slot name, together with the variable that they are kept for.
    virtual void created(const std::string& name, const Variable& variable,
                         const Variable& original) = 0;
    /// Returns the restorer of the part just added under `name`; null when the checkpoint has
    /// nothing for it.
    virtual std::shared_ptr<Restorer> part(const std::string& name) = 0;
  };

  virtual ~Trackable() = default;
  /// Returns the object's own variables, by name; its parts; and, for an optimizer, the slots of
  /// variables.
  virtual std::vector<NamedVariable> own_variables() const { return {}; }
  virtual std::vector<Child> children() const { return {}; }
  virtual std::vector<SlotVariable> slot_variables() const { return {}; }
  /// False before the object has made its variables, which layers do at the first call.
  virtual bool built() const { return true; }

  /// Defers restoration: variables and parts created from now on get their values from `restorer`.
  void set_restorer(std::shared_ptr<Restorer> restorer) const { restorer_ = std::move(restorer); }

 protected:
  Trackable() = default;
  Trackable(const Trackable&) = default;
  Trackable& operator=(const Trackable&) = default;

  /// Call right after creating a variable: it gets the value that a checkpoint holds for it.
  void restore_created(const std::string& name, const Variable& variable,
                       const Variable& original = {}) const {
    if (restorer_) restorer_->created(name, variable, original);
  }
  /// Gives the variables of `part` the values that a restored checkpoint holds for them. A class
  /// calls it right after it has added the part.
  void restore_added(const std::string& name, const Trackable& part) const;

 private:
  mutable std::shared_ptr<Restorer> restorer_;
};

}  // namespace distribute
