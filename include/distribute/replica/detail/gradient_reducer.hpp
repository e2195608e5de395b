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

/// What a reducer wants of tapes and optimizers. It is known when the reducer is made and never
/// changes.
struct GradientWishes {
  /// Says to tapes where gradients shall appear; null: anywhere. For the time of a run.
  GradientPlacer* placer = nullptr;
  /// update() multiplies lazy products slice by slice, at its best on this replica.
  bool lazy_products = false;
  /// ready() starts work: it is called for each gradient as soon as that is complete.
  bool early = false;
  /// update() applies the gradients of GPUs in host memory, where sparse ones may stay so.
  bool updates_on_host = false;
};

/// Sums the gradients of one replica with those of the others, and updates the variables. A
/// strategy composes one of parts with this interface when it knows the devices and partners of its
/// replicas: each part does one thing and hands the rest to the part that it was made with.
/// Optimizers find the first part by reducer_of(). One replica thread at a time; every replica of a
/// strategy makes the same calls in the same order. A step is, in order: ready() for some
/// gradients, missing(), and update() or update_and_count().
class GradientReducer {
 public:
  explicit GradientReducer(GradientWishes wishes = {}) : wishes_(wishes) {}
  virtual ~GradientReducer() = default;

  const GradientWishes& wishes() const { return wishes_; }

  /// The gradient of this step is complete, and update() will get the same: its sum over the
  /// replicas may begin while the backward pass goes on.
  virtual void ready(const Variable& variable, const Tensor& gradient) {
    (void)variable, (void)gradient;
  }
  /// This step has no gradient for the variables `names`: what errors of update() tell, as another
  /// replica may have one.
  virtual void missing(const std::string& names) { (void)names; }

  /// As ReplicaContext::update.
  virtual void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                      const UpdateKernel& kernel) = 0;
  /// update(), after which the int64 scalar `counter` is one more. Gives its new value: the number
  /// of this step, which no other step of the job has.
  DISTRIBUTE_INLINE virtual int64_t update_and_count(std::span<const VariableUpdate> updates,
                                                     bool gradients_are_reduced,
                                                     const UpdateKernel& kernel,
                                                     const Variable& counter);

 private:
  const GradientWishes wishes_;
};

}  // namespace replica_internal

}  // namespace distribute
