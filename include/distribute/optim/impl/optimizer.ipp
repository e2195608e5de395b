#pragma once
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/cluster/detail/lone_process.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/optim/detail/optimizer_step.hpp>
#include <distribute/optim/detail/step_updates.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

/// The slot that use_ema adds; it is the last one.
inline constexpr const char* kAverage = "average";

/// As in Keras, the average of the first step is the weights themselves.
DISTRIBUTE_INLINE float momentum_of(const CommonOptions& options, int64_t steps_done) {
  return steps_done == 0 ? 0.0f : float(options.ema_momentum);
}

DISTRIBUTE_INLINE Variable scalar_variable(const char* name, Variable::Initializer value) {
  return Variable(
      std::move(value),
      {.name = name, .trainable = false, .aggregation = VariableAggregation::OnlyFirstReplica});
}

/// Runs `fn` once, in cross-replica context.
DISTRIBUTE_INLINE void run_once(ReplicaContext* replica, const std::function<void()>& fn) {
  if (!replica) return fn();
  replica->merge(fn);
}

}  // namespace optim_internal

DISTRIBUTE_INLINE void Optimizer::check_options() const {
  const CommonOptions& options = options_;
  const int clips = int(options_.clipnorm.has_value()) + int(options_.clipvalue.has_value()) +
                    int(options_.global_clipnorm.has_value());
  if (clips > 1)
    throw InvalidArgumentError(
        "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set");
  for (const auto& limit : {options.clipnorm, options.clipvalue, options.global_clipnorm})
    if (limit && !(*limit > 0))
      throw InvalidArgumentError(
          str_cat("the limit of clipping must be a positive number; it is ", *limit));
  if (options.use_ema && !(options.ema_momentum >= 0 && options.ema_momentum <= 1))
    throw InvalidArgumentError(str_cat("`ema_momentum` must be in the range [0, 1]. Received: ",
                                       "ema_momentum=", options.ema_momentum));
  if (options.use_ema && options.ema_overwrite_frequency && *options.ema_overwrite_frequency < 1)
    throw InvalidArgumentError(str_cat("`ema_overwrite_frequency` must be at least 1; it is ",
                                       *options.ema_overwrite_frequency));
}

DISTRIBUTE_INLINE Optimizer::Optimizer(CommonOptions options) : options_(std::move(options)) {
  check_options();
  iterations_ = optim_internal::scalar_variable("iterations", [] { return Tensor(int64_t{0}); });
  if (options_.learning_rate.is_schedule()) return;
  const float rate = float(options_.learning_rate(0));
  learning_rate_ = optim_internal::scalar_variable("learning_rate", [=] { return Tensor(rate); });
}

DISTRIBUTE_INLINE Optimizer::Optimizer(WrapsAnother, std::string name)
    : options_{.name = std::move(name)} {}
DISTRIBUTE_INLINE Optimizer::~Optimizer() = default;

DISTRIBUTE_INLINE float Optimizer::learning_rate() const {
  if (learning_rate_) return learning_rate_.value().item<float>();
  return float(options_.learning_rate((iterations() + 1) * batches_per_step_ - 1));
}

DISTRIBUTE_INLINE void Optimizer::require_settable_rate(const char* caller) const {
  if (learning_rate_) return;
  throw FailedPreconditionError(
      str_cat(caller, ": This optimizer was created with a schedule as its `learning_rate`, hence ",
              "its learning rate is not settable. If you need the learning rate to be settable, ",
              "make the optimizer with a number"));
}

DISTRIBUTE_INLINE void Optimizer::set_learning_rate(LearningRate rate) {
  if (!rate.is_schedule()) {
    require_settable_rate("set_learning_rate");
    learning_rate_.assign(Tensor(float(rate(0))));
    return;
  }
  options_.learning_rate = std::move(rate);
  learning_rate_ = Variable();
}

namespace optim_internal {

DISTRIBUTE_INLINE std::function<bool(const Variable&)> name_contains(
    std::vector<std::string> words) {
  return [words = std::move(words)](const Variable& variable) {
    for (const std::string& word : words)
      if (variable.name().find(word) != std::string::npos) return true;
    return false;
  };
}

}  // namespace optim_internal

DISTRIBUTE_INLINE void Optimizer::exclude_from_weight_decay(std::vector<std::string> words) {
  exclude_from_weight_decay(optim_internal::name_contains(std::move(words)));
}
DISTRIBUTE_INLINE void Optimizer::exclude_from_weight_decay(
    std::function<bool(const Variable&)> excluded) {
  excluded_.push_back(std::move(excluded));
}

DISTRIBUTE_INLINE bool Optimizer::decays(const Variable& variable) const {
  if (!options_.weight_decay && !options_.coupled_weight_decay) return false;
  for (const auto& excluded : excluded_)
    if (excluded(variable)) return false;
  return true;
}

DISTRIBUTE_INLINE void Optimizer::multiply_learning_rate(std::vector<std::string> words,
                                                         double factor) {
  if (!(factor >= 0 && factor <= std::numeric_limits<float>::max()))
    throw InvalidArgumentError(
        str_cat("multiply_learning_rate: the factor must be a number of at least 0, got ", factor));
  multiply_learning_rate(
      [applies = optim_internal::name_contains(std::move(words)),
       factor](const Variable& variable) { return applies(variable) ? factor : 1.0; });
}
DISTRIBUTE_INLINE void Optimizer::multiply_learning_rate(
    std::function<double(const Variable&)> factor) {
  factors_.push_back(std::move(factor));
}

DISTRIBUTE_INLINE float Optimizer::rate_factor(const Variable& variable) const {
  double product = 1;
  for (const auto& factor : factors_) product *= factor(variable);
  return float(product);
}

namespace optim_internal {

DISTRIBUTE_INLINE ReplicaContext& replica_that_applies() {
  cluster_internal::warn_of_job_of_others();
  if (ReplicaContext* replica = get_replica_context()) return *replica;
  throw FailedPreconditionError(
      "`apply_gradients() cannot be called in cross-replica context. Use "
      "`Strategy.run` to enter replica context.");
}

[[noreturn]] DISTRIBUTE_INLINE void refuse_changed_gradients() {
  throw FailedPreconditionError(
      "minimize: the optimizer's own apply_gradients() changed the gradients or did not hand its "
      "options on, after their sum over the hosts had begun; override minimize() as well: "
      "`return apply_gradients(tape.gradient(loss, variables), variables, options);`");
}

/// Checks that these are the gradients whose sums have begun.
DISTRIBUTE_INLINE void check_begun(const std::vector<Tensor>& gradients, BegunGradients& begun) {
  const auto is_same = [](const Tensor& a, const Tensor& b) {
    return bool(a) == bool(b) && (!a || a.id() == b.id());
  };
  if (!std::equal(gradients.begin(), gradients.end(), begun.gradients.begin(),
                  begun.gradients.end(), is_same))
    refuse_changed_gradients();
  begun.applied = true;
}

}  // namespace optim_internal

/// True when gradients pass from the tape to the reducer unchanged.
DISTRIBUTE_INLINE bool Optimizer::goes_straight(const ApplyOptions& options) const {
  return !clips() && !needs_whole_variables() && !options.reduced_gradients &&
         !options.find_unused_parameters;
}

DISTRIBUTE_INLINE int64_t Optimizer::minimize(const Tensor& loss,
                                              const std::vector<Variable>& variables,
                                              GradientTape& tape, ApplyOptions options) {
  ReplicaContext& replica = optim_internal::replica_that_applies();
  if (!goes_straight(options))
    return apply_gradients(tape.gradient({loss}, variables), variables, options);
  replica_internal::GradientReducer& reducer = replica_internal::reducer_of(replica);
  GradientTape::Call call;
  const bool early = reducer.wishes().early && !options.skip_gradients_aggregation;
  if (early)
    call.on_ready = [&](size_t i, const Tensor& gradient) {
      reducer.ready(variables[i], gradient);
    };
  std::vector<Tensor> gradients;
  {
    const autograd_internal::LazyProductScope products(reducer.wishes().lazy_products);
    gradients = tape.gradient({loss}, variables, call);
  }
  BegunGradients begun{gradients};
  if (early) options.begun = &begun;
  const int64_t step = apply_gradients(gradients, variables, options);
  if (early && !begun.applied) optim_internal::refuse_changed_gradients();
  return step;
}

DISTRIBUTE_INLINE int64_t Optimizer::apply_gradients(const std::vector<Tensor>& gradients,
                                                     const std::vector<Variable>& variables,
                                                     ApplyOptions options) {
  ReplicaContext& replica = optim_internal::replica_that_applies();
  if (options.begun) optim_internal::check_begun(gradients, *options.begun);
  return goes_straight(options) ? apply_straight(replica, gradients, variables, options)
                                : apply_prepared(replica, gradients, variables, options);
}

DISTRIBUTE_INLINE int64_t Optimizer::apply_straight(ReplicaContext& replica,
                                                    const std::vector<Tensor>& gradients,
                                                    const std::vector<Variable>& variables,
                                                    const ApplyOptions& options) {
  std::vector<VariableUpdate> updates =
      collect(gradients, variables, replica_internal::reducer_of(replica));
  add_slots(updates, &replica);
  return update(replica, updates, options.skip_gradients_aggregation, {});
}

/// Clips gradients, sums them over the replicas before the update, or both.
DISTRIBUTE_INLINE int64_t Optimizer::apply_prepared(ReplicaContext& replica,
                                                    const std::vector<Tensor>& gradients,
                                                    const std::vector<Variable>& variables,
                                                    const ApplyOptions& options) {
  const std::vector<Tensor> known =
      options.find_unused_parameters
          ? optim_internal::with_zeros_for_unused(gradients, variables, replica)
          : gradients;
  if (needs_whole_variables()) check_whole(known, variables, replica_internal::reducer_of(replica));
  std::vector<VariableUpdate> updates =
      collect(known, variables, replica_internal::reducer_of(replica));
  add_slots(updates, &replica);
  const bool reduced = prepare(updates, replica, options);
  if (options.reduced_gradients)
    *options.reduced_gradients = optim_internal::gradients_of(updates, known, variables);
  const auto ratios = [&](StepNumbers& now) {
    if (needs_whole_variables()) add_ratios(now, updates, replica);
  };
  return update(replica, updates, reduced, ratios);
}

DISTRIBUTE_INLINE int64_t Optimizer::update(ReplicaContext& replica,
                                            std::vector<VariableUpdate>& updates, bool reduced,
                                            const std::function<void(StepNumbers&)>& complete) {
  replica_internal::GradientReducer& reducer = replica_internal::reducer_of(replica);
  densify(updates, reducer);
  if (RecordedStep* recording = RecordedStep::current())
    return record_update(*recording, replica, updates, reduced);
  const int64_t done = iterations();
  StepNumbers now = step_of(updates, done);
  if (complete) complete(now);
  const int64_t step = reducer.update_and_count(updates, reduced,
                                                make_described_kernel(std::move(now)), iterations_);
  if (options_.use_ema) average_others(updates, replica, done, step);
  optim_internal::apply_constraints(updates, replica);
  if (replica.local_replica_id() == 0) monitoring::metrics().count_step();
  return step;
}

/// Makes every launch use the numbers of its own step, and count the step.
DISTRIBUTE_INLINE int64_t Optimizer::record_update(RecordedStep& recording, ReplicaContext& replica,
                                                   const std::vector<VariableUpdate>& updates,
                                                   bool are_reduced) {
  optim_internal::apply_constraints(updates, replica);  // throws if there are constraints
  if (options_.use_ema && options_.ema_overwrite_frequency)
    throw FailedPreconditionError(
        "with ema_overwrite_frequency steps differ from each other, and none can be recorded");
  if (options_.use_ema && slots_.has_others(updates))
    throw FailedPreconditionError(
        "with use_ema a step in which variables have no gradient cannot be recorded");
  if (!factors_.empty() || needs_whole_variables())
    throw UnimplementedError(str_cat("a recorded step has one learning rate for all variables; '",
                                     options_.name, "' has one for each"));
  std::vector<bool> decayed;
  for (const VariableUpdate& update : updates) decayed.push_back(decays(update.variable));
  const auto next = [this, decayed] {
    const RecordedStep::Pause pause;
    return make_kernel({learning_rate(), iterations(), decayed});
  };
  UpdateKernel kernel = next();
  kernel.read_numbers_at(
      recording.numbers<kernels::UpdateNumbers>([next] { return next().gpu().numbers(); }));
  replica_internal::reducer_of(replica).update(updates, are_reduced, kernel);
  recording.after_launch([this] {
    ReplicaContext* running = get_replica_context();
    optim_internal::run_once(running, [&] { iterations_.assign_add(Tensor(int64_t{1})); });
    if (!running || running->local_replica_id() == 0) monitoring::metrics().count_step();
  });
  const RecordedStep::Pause pause;
  return iterations() + 1;
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Optimizer::all_slots() const {
  std::vector<Slot> all = slots();
  if (options_.use_ema) all.push_back({optim_internal::kAverage, 0.0f});
  return all;
}

DISTRIBUTE_INLINE void Optimizer::add_slots(std::vector<VariableUpdate>& updates,
                                            ReplicaContext* replica) {
  const std::vector<Slot> wanted = all_slots();
  if (wanted.empty() || slots_.find(updates)) return;
  optim_internal::run_once(replica, [&] {
    slots_.create(updates, wanted,
                  [this](const std::string& slot, const Variable& created, const Variable& weight) {
                    slot_created(slot, created, weight);
                  });
  });
  slots_.find(updates);
}

/// The average of a variable that is new in the middle of the training begins with the variable's
/// value, as in the first step.
DISTRIBUTE_INLINE void Optimizer::slot_created(const std::string& slot, const Variable& created,
                                               const Variable& weight) {
  if (slot == optim_internal::kAverage && iterations() > 0)
    for (int i = 0; i < weight.impl().num_components(); ++i)
      created.impl().set_component(i, weight.impl().component(i).renamed());
  restore_created(slot, created, weight);
}

DISTRIBUTE_INLINE void Optimizer::build(const std::vector<Variable>& variables) {
  std::vector<VariableUpdate> updates;
  for (const Variable& variable : with_parts(variables)) updates.push_back({variable, {}, {}});
  add_slots(updates, get_replica_context());
}

/// The update has moved the averages of its own variables. As in Keras, those of all others move in
/// every step, too.
DISTRIBUTE_INLINE void Optimizer::average_others(const std::vector<VariableUpdate>& updates,
                                                 ReplicaContext& replica, int64_t done,
                                                 int64_t step) {
  if (slots_.has_others(updates))
    optim_internal::run_once(&replica, [&] {
      slots_.average_others(updates, optim_internal::momentum_of(options_, done));
    });
  const auto frequency = options_.ema_overwrite_frequency;
  if (frequency && step % *frequency == 0) exchange(slots_.weights(), false);
}

DISTRIBUTE_INLINE void Optimizer::move_averages(const std::vector<Variable>& variables) {
  if (!options_.use_ema) return;
  ReplicaContext& replica = optim_internal::replica_that_applies();
  build(variables);
  const int64_t done = iterations();
  average_others({}, replica, done, done + 1);
}

DISTRIBUTE_INLINE void Optimizer::exchange(const std::vector<Variable>& variables,
                                           bool keep_weights) {
  if (!options_.use_ema && !variables.empty())
    throw FailedPreconditionError(
        str_cat("there is no moving average of variable '", variables[0].name(), "'"));
  optim_internal::run_once(get_replica_context(),
                           [&] { slots_.exchange_with_last(variables, keep_weights); });
}

DISTRIBUTE_INLINE void Optimizer::swap_averages(const std::vector<Variable>& variables) {
  exchange(variables, true);
  averages_are_swapped_ = !averages_are_swapped_;
}
DISTRIBUTE_INLINE void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) {
  if (!options_.use_ema || iterations() == 0) return;
  build(variables);  // those of a checkpoint, when no step has followed it
  if (averages_are_swapped_) swap_averages(variables);
  exchange(variables, false);
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> Optimizer::own_variables() const {
  std::vector<NamedVariable> own{{"iterations", iterations_}};
  if (learning_rate_) own.push_back({"learning_rate", learning_rate_});
  return own;
}

DISTRIBUTE_INLINE std::vector<Trackable::SlotVariable> Optimizer::slot_variables() const {
  return slots_.all(all_slots());
}

}  // namespace distribute::optim
