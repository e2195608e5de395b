#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/replica/replica_context.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace distribute::nn {

/// The states after the last call of each replica. Thread-safe.
class RecurrentBase::KeptStates {
 public:
  /// Returns the states that this replica kept; zeros after forget(), and an empty list before the
  /// first call.
  std::vector<Tensor> of_replica(const std::string& layer, const Tensor& x) {
    if (RecordedStep::current() || autograd_internal::active_trace())
      throw UnimplementedError(str_cat("'", layer, "' is stateful: a step that is recorded, or a ",
                                       "model that is exported, cannot keep its states"));
    const std::lock_guard lock(mutex_);
    const std::vector<Tensor>& kept = states_[replica()];
    if (kept.empty()) return zeros_for(x);
    if (kept[0].shape()[0] != x.shape()[0])
      throw InvalidArgumentError(str_cat("'", layer, "' is stateful and has states of ",
                                         kept[0].shape()[0], " examples; this batch has ",
                                         x.shape()[0], ". Call reset_states(), or give it batches ",
                                         "of one size (batch(n, {.drop_remainder = true}))"));
    return kept;
  }
  void keep(const std::vector<Tensor>& states) {
    std::vector<Tensor> values;
    for (const Tensor& state : states) values.push_back(stop_gradient(state));
    const std::lock_guard lock(mutex_);
    states_[replica()] = std::move(values);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    if (states_.empty()) return;
    shapes_.clear();
    for (const Tensor& state : states_.begin()->second) shapes_.push_back(state.shape());
    states_.clear();
  }

 private:
  static int replica() {
    const ReplicaContext* context = get_replica_context();
    return context ? context->replica_id_in_sync_group() : 0;
  }
  std::vector<Tensor> zeros_for(const Tensor& x) const {
    std::vector<Tensor> all;
    for (const Shape& shape : shapes_) {
      std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
      sizes[0] = x.shape()[0];
      all.push_back(fill(Shape(std::span<const int64_t>(sizes)), 0, x.dtype(), x.device()));
    }
    return all;
  }

  std::mutex mutex_;  // guards the rest
  std::map<int, std::vector<Tensor>> states_;
  std::vector<Shape> shapes_;  // of the states that were forgotten last
};

DISTRIBUTE_INLINE RecurrentBase::RecurrentBase(std::string name, bool return_sequences,
                                               bool go_backwards, bool stateful)
    : Module(std::move(name)), return_sequences_(return_sequences), go_backwards_(go_backwards) {
  if (stateful) kept_ = Pimpl<KeptStates>(new KeptStates());
}

DISTRIBUTE_INLINE RecurrentBase::~RecurrentBase() = default;
DISTRIBUTE_INLINE RecurrentBase::RecurrentBase(RecurrentBase&&) noexcept = default;
DISTRIBUTE_INLINE RecurrentBase& RecurrentBase::operator=(RecurrentBase&&) noexcept = default;

DISTRIBUTE_INLINE void RecurrentBase::reset_own_states() {
  if (kept_) kept_->forget();
}

DISTRIBUTE_INLINE RecurrentResult RecurrentBase::run_from(const Tensor& x,
                                                          const std::vector<Tensor>& initial,
                                                          const CallOptions& options) {
  const bool goes_on = kept_ && initial.empty();
  RecurrentResult result = run(x, goes_on ? kept_->of_replica(name(), x) : initial, options);
  if (kept_) kept_->keep(result.states);
  return result;
}

DISTRIBUTE_INLINE RecurrentResult RecurrentBase::call_with_states(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  RecurrentResult result;
  enter(std::span(&x, 1), [&] {
    std::vector<Tensor> states;
    for (const Tensor& state : initial) states.push_back(autocast(state));
    const Tensor mask = options.mask ? options.mask : get_keras_mask(x);
    if (initial.empty()) options.mask = mask;
    result = run_from(autocast(x), states, options);
    if (supports_masking()) result.output = nn_internal::with_mask(result.output, mask);
    return result.output;
  });
  return result;
}

DISTRIBUTE_INLINE Tensor RecurrentBase::call(const Tensor& x, CallOptions options) {
  return run_from(x, {}, options).output;
}

}  // namespace distribute::nn
