#pragma once
/// The slots of an optimizer: variables that it keeps for every weight, in order of creation.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/replica/replica_context.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::optim {

/// Name and first value of a variable that is kept for each weight.
struct SlotSpec {
  std::string name;
  float initial_value = 0.0f;
};

/// Finds the slots of weights. Thread-safe, except that all() must not run at the same time as
/// create().
class SlotTable {
 public:
  SlotTable();
  ~SlotTable();
  /// A function that is called with every variable that was made.
  using Created =
      std::function<void(const std::string& slot, const Variable& created, const Variable& weight)>;

  /// Fills in the slots of all updates; returns false when a weight has no slots yet.
  bool find(std::vector<VariableUpdate>& updates);
  /// Makes the slots of weights that have none. Call it in cross-replica context.
  void create(const std::vector<VariableUpdate>& updates, const std::vector<SlotSpec>& specs,
              const Created& created);
  /// Exchanges each weight with its last slot, the moving average, or overwrites the weight with
  /// it. With `keep_weights` they are exchanged.
  /// Throws  FailedPreconditionError when there is no average to exchange.
  void exchange_with_last(const std::vector<Variable>& weights, bool keep_weights);
  /// Returns whether a weight that is in none of the updates has slots.
  bool has_others(const std::vector<VariableUpdate>& updates) const;
  /// Moves the last slot, the moving average, of the weights that are in none of the updates: mean
  /// = momentum * mean + (1 - momentum) * weight. Call it in cross-replica context.
  void average_others(const std::vector<VariableUpdate>& updates, float momentum);
  /// Returns the weights that have slots.
  std::vector<Variable> weights() const;
  std::vector<Trackable::SlotVariable> all(const std::vector<SlotSpec>& specs) const;

 private:
  struct Sets;
  const Pimpl<Sets> sets_;
};

}  // namespace distribute::optim
