#pragma once
/// What happens to the gradients of a replica between GradientTape::gradient and the updated
/// variables.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace distribute {

class GradientPlacer;

namespace replica_internal {

/// What a reducer asks of tapes and optimizers. It is fixed when the reducer is made.
struct GradientWishes {
  /// Tells tapes during a run where gradients should appear; null when they may appear anywhere.
  GradientPlacer* placer = nullptr;
  /// True when update() multiplies lazy products slice by slice, which is fastest on this replica.
  bool lazy_products = false;
  /// True when ready() starts work, so that it should be called for each gradient as soon as that
  /// is complete.
  bool early = false;
  /// True when update() applies the gradients of GPUs in host memory, where sparse ones may stay
  /// sparse.
  bool updates_on_host = false;
  /// True when a replica updates a slice of each variable and has its slots alone, so that no
  /// formula may read whole slots.
  bool shards_slots = false;
};

/// Sums the gradients of one replica with those of the others, and updates the variables. A
/// strategy builds a chain of such parts when it knows the devices and partners of its replicas:
/// each part does one thing and calls the part that it was made with for the rest. Optimizers find
/// the first part by reducer_of(). Used by one replica thread at a time.
///
/// Invariants:
/// 1. Every replica of a strategy makes the same calls in the same order.
/// 2. A step calls, in this order: ready() for some gradients, missing(), and then update() or
///    update_and_count().
/// 3. update() gets the same gradients that ready() got in this step.
class GradientReducer {
 public:
  explicit GradientReducer(GradientWishes wishes = {}) : wishes_(wishes) {}
  virtual ~GradientReducer() = default;

  const GradientWishes& wishes() const { return wishes_; }

  /// Says that a gradient of this step is complete. Its sum over the replicas may begin while the
  /// backward pass goes on.
  virtual void ready(const Variable& variable, const Tensor& gradient) {
    (void)variable, (void)gradient;
  }
  /// Says that this step has no gradient for the variables `names`. Errors of update() name them,
  /// as another replica may have such a gradient.
  virtual void missing(const std::string& names) { (void)names; }

  /// Does what ReplicaContext::update() says.
  virtual void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                      const UpdateKernel& kernel) = 0;
  /// Does what update() does, then adds 1 to the int64 scalar `counter` and gives its new value:
  /// the number of this step, which no other step of the job has.
  DISTRIBUTE_INLINE virtual int64_t update_and_count(std::span<const VariableUpdate> updates,
                                                     bool gradients_are_reduced,
                                                     const UpdateKernel& kernel,
                                                     const Variable& counter);

 private:
  const GradientWishes wishes_;
};

}  // namespace replica_internal

}  // namespace distribute
