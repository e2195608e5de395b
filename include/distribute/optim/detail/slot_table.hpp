#pragma once
/// The variables that an optimizer keeps beside every weight: its slots, in order of creation.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/replica/replica_context.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::optim {

/// A variable beside each weight: its name and first value.
struct SlotSpec {
  std::string name;
  float initial_value = 0.0f;
};

/// Thread-safe but for all(), which must not run at the same time as create().
class SlotTable {
 public:
  SlotTable();
  ~SlotTable();
  /// Told of every variable that was made.
  using Created =
      std::function<void(const std::string& slot, const Variable& created, const Variable& weight)>;

  /// Fills in the slots of all updates; false when a weight has none yet.
  bool find(std::vector<VariableUpdate>& updates);
  /// Makes the slots of the weights that have none. Call it in cross-replica context.
  void create(const std::vector<VariableUpdate>& updates, const std::vector<SlotSpec>& specs,
              const Created& created);
  /// Exchanges weights with their last slot, the moving average, or overwrites those that have one
  /// with it.
  /// Throws  FailedPreconditionError when there is none to exchange.
  void exchange_with_last(const std::vector<Variable>& weights, bool keep_weights);
  std::vector<Trackable::SlotVariable> all(const std::vector<SlotSpec>& specs) const;

 private:
  struct Sets;
  const Pimpl<Sets> sets_;
};

}  // namespace distribute::optim
