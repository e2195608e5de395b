#pragma once
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/autograd/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/ops/clip.hpp>
#include <distribute/ops/concat.hpp>
#include <distribute/ops/unary.hpp>
#include <distribute/optim/detail/constraints.hpp>
#include <distribute/optim/detail/element_kernels.hpp>
#include <distribute/optim/detail/unused_parameters.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/optimizer_text.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>

#include <cstdio>
#include <limits>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

DISTRIBUTE_INLINE Variable scalar_variable(const char* name, Variable::Initializer value) {
  return Variable(
      std::move(value),
      {.name = name, .trainable = false, .aggregation = VariableAggregation::OnlyFirstReplica});
}

/// Runs `fn` once, in cross-replica context.
DISTRIBUTE_INLINE void run_once(ReplicaContext* replica, const std::function<void()>& fn) {
  if (!replica) return fn();
  replica->merge([&](std::span<void* const>) { fn(); }, nullptr);
}

/// A variable that is cut is updated shard by shard.
DISTRIBUTE_INLINE void add_update(std::vector<VariableUpdate>& updates, const Variable& variable,
                                  const Tensor& gradient) {
  const auto& parts = variable.impl().parts();
  if (parts.empty()) return updates.push_back({variable, {}, gradient});
  int64_t begin = 0;
  for (const Variable& part : parts) {
    const int64_t end = begin + part.shape()[0];
    updates.push_back({part, {}, gradient.row_major().rows(begin, end)});
    begin = end;
  }
}

/// The gradients of updates by variable; those of a cut one are put together.
DISTRIBUTE_INLINE std::vector<Tensor> gradients_of(const std::vector<VariableUpdate>& updates,
                                                   const std::vector<Tensor>& given,
                                                   const std::vector<Variable>& variables) {
  std::vector<Tensor> gradients(variables.size());
  auto next = updates.begin();
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!given[i]) continue;
    const size_t parts = variables[i].impl().parts().size();
    std::vector<Tensor> rows;
    for (size_t part = 0; part < parts; ++part) rows.push_back((next++)->gradient.row_major());
    gradients[i] = parts ? concat(rows, 0) : (next++)->gradient;
  }
  return gradients;
}

DISTRIBUTE_INLINE std::string names_of(const std::vector<Variable>& variables) {
  std::string names;
  for (const Variable& variable : variables)
    names += (names.empty() ? "'" : ", '") + variable.name() + "'";
  return names;
}

}  // namespace optim_internal

DISTRIBUTE_INLINE Optimizer::Optimizer(CommonOptions options) : options_(std::move(options)) {
  const int clips = int(options_.clipnorm.has_value()) + int(options_.clipvalue.has_value()) +
                    int(options_.global_clipnorm.has_value());
  if (clips > 1)
    throw InvalidArgumentError(
        "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set");
  iterations_ = optim_internal::scalar_variable("iterations", [] { return Tensor(int64_t{0}); });
  if (options_.learning_rate.is_schedule()) return;
  const float rate = float(options_.learning_rate(0));
  learning_rate_ = optim_internal::scalar_variable("learning_rate", [=] { return Tensor(rate); });
}

DISTRIBUTE_INLINE int64_t Optimizer::iterations() const {
  return iterations_.value().item<int64_t>();
}

DISTRIBUTE_INLINE float Optimizer::learning_rate() const {
  return learning_rate_ ? learning_rate_.value().item<float>()
                        : float(options_.learning_rate(iterations()));
}

DISTRIBUTE_INLINE void Optimizer::set_learning_rate(LearningRate rate) {
  if (!rate.is_schedule() && learning_rate_) return learning_rate_.assign(Tensor(float(rate(0))));
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

/// Of update `i`; 1 for an empty list.
DISTRIBUTE_INLINE float factor_at(const std::vector<float>& factors, size_t i) {
  return factors.empty() ? 1.0f : factors.at(i);
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

DISTRIBUTE_INLINE int64_t Optimizer::minimize(const Tensor& loss,
                                              const std::vector<Variable>& variables,
                                              GradientTape& tape, ApplyOptions options) {
  GradientTape::Call call;
  ReplicaContext* replica = get_replica_context();
  replica_internal::GradientReducer* reducer =
      replica ? &replica_internal::reducer_of(*replica) : nullptr;
  const bool one_by_one = reducer && !clips() && !needs_whole_variables() &&
                          !options.reduced_gradients && !options.find_unused_parameters;
  if (one_by_one && !options.skip_gradients_aggregation)
    call.on_ready = [&](size_t i, const Tensor& gradient) {
      reducer->ready(variables[i], gradient);
    };
  std::vector<Tensor> gradients;
  {
    const bool lazy = one_by_one && reducer->multiplies_gradients();
    const autograd_internal::LazyProductScope products(lazy);
    gradients = tape.gradient({loss}, variables, call);
  }
  return apply_gradients(gradients, variables, options);
}

DISTRIBUTE_INLINE int64_t Optimizer::apply_gradients(const std::vector<Tensor>& gradients,
                                                     const std::vector<Variable>& variables,
                                                     ApplyOptions options) {
  ReplicaContext* replica = get_replica_context();
  if (!replica)
    throw FailedPreconditionError(
        "`apply_gradients() cannot be called in cross-replica context. Use "
        "`Strategy.run` to enter replica context.");
  replica_internal::GradientReducer& reducer = replica_internal::reducer_of(*replica);
  const std::vector<Tensor> known =
      options.find_unused_parameters
          ? optim_internal::with_zeros_for_unused(gradients, variables, *replica)
          : gradients;
  std::vector<VariableUpdate> updates = collect(known, variables, reducer);
  add_slots(updates, replica);
  const bool reduced = prepare(updates, *replica, options);
  if (options.reduced_gradients)
    *options.reduced_gradients = optim_internal::gradients_of(updates, known, variables);
  densify(updates, reducer);
  if (RecordedStep* recording = RecordedStep::current())
    return record_update(*recording, *replica, updates, reduced);
  Step now = step_of(updates, iterations());
  if (needs_whole_variables()) add_ratios(now, updates, *replica);
  const int64_t step = reducer.update_and_count(updates, reduced,
                                                make_described_kernel(std::move(now)), iterations_);
  optim_internal::apply_constraints(updates, *replica);
  overwrite_with_averages(updates, step);
  if (replica->local_replica_id() == 0) monitoring::metrics().count_step();
  return step;
}

/// Clips, and sums over the replicas where that has to come first. True: the gradients are sums.
DISTRIBUTE_INLINE bool Optimizer::prepare(std::vector<VariableUpdate>& updates,
                                          ReplicaContext& replica,
                                          const ApplyOptions& options) const {
  if (options.reduced_gradients && RecordedStep::current())
    throw UnimplementedError("reduced_gradients: a recorded step cannot give its gradients");
  if (clips_per_replica()) clip(updates);
  const bool sums =
      (clips() && !clips_per_replica()) || options.reduced_gradients || needs_whole_variables();
  if (sums && !options.skip_gradients_aggregation) {
    std::vector<Tensor> gradients;
    for (const VariableUpdate& update : updates) gradients.push_back(update.gradient);
    gradients = replica.all_reduce(ReduceOp::Sum, gradients);
    for (size_t i = 0; i < updates.size(); ++i) updates[i].gradient = std::move(gradients[i]);
  }
  if (clips() && !clips_per_replica()) clip(updates);
  return sums || options.skip_gradients_aggregation;
}

/// Every launch takes the numbers of its own step, and counts it.
DISTRIBUTE_INLINE int64_t Optimizer::record_update(RecordedStep& recording, ReplicaContext& replica,
                                                   const std::vector<VariableUpdate>& updates,
                                                   bool are_reduced) {
  optim_internal::apply_constraints(updates, replica);  // which throws where there are some
  if (options_.use_ema && options_.ema_overwrite_frequency)
    throw FailedPreconditionError(
        "with ema_overwrite_frequency steps differ from each other, and none can be recorded");
  if (!factors_.empty() || needs_whole_variables())
    throw UnimplementedError(str_cat("a recorded step has one learning rate for all variables; '",
                                     options_.name, "' has one for each"));
  std::vector<bool> decayed;
  for (const VariableUpdate& update : updates) decayed.push_back(decays(update.variable));
  const auto next = [this, decayed] {
    const RecordedStep::Pause pause;
    return make_kernel(Step{learning_rate(), iterations(), decayed});
  };
  UpdateKernel kernel = next();
  kernel.read_numbers_at(
      recording.numbers<kernels::UpdateNumbers>([next] { return next().gpu().numbers(); }));
  replica_internal::reducer_of(replica).update(updates, are_reduced, kernel);
  recording.after_launch([this] {
    ReplicaContext* running = get_replica_context();
    optim_internal::run_once(running, [&] { iterations_.assign_add(Tensor(int64_t{1})); });
    monitoring::metrics().count_step();
  });
  const RecordedStep::Pause pause;
  return iterations() + 1;
}

DISTRIBUTE_INLINE std::vector<VariableUpdate> Optimizer::collect(
    const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
    replica_internal::GradientReducer& reducer) {
  if (gradients.size() != variables.size())
    throw InvalidArgumentError(str_cat("apply_gradients: ", gradients.size(), " gradients for ",
                                       variables.size(), " variables"));
  std::vector<VariableUpdate> updates;
  std::vector<Variable> missing;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i]) {
      missing.push_back(variables[i]);
      continue;
    }
    if (gradients[i].shape() != variables[i].shape())
      throw InvalidArgumentError(str_cat("apply_gradients: variable '", variables[i].name(),
                                         "' is ", to_string(variables[i].shape()),
                                         ", its gradient ", to_string(gradients[i].shape())));
    if (needs_whole_variables() &&
        (variables[i].impl().save_slice_info() || !variables[i].impl().parts().empty()))
      throw UnimplementedError(str_cat("the optimizer '", options_.name, "' takes norms of whole ",
                                       "variables, and '", variables[i].name(),
                                       "' is cut into parts: use no variable_partitioner"));
    optim_internal::add_update(updates, variables[i], gradients[i]);
  }
  reducer.missing(optim_internal::names_of(missing));
  if (updates.empty())
    throw InvalidArgumentError(str_cat(
        "No gradients provided for any variable: ", optim_internal::names_of(variables), "."));
  if (missing.empty()) return updates;
  if (!warned_.exchange(true))
    log_warning("optim", str_cat("Gradients do not exist for variables ",
                                 optim_internal::names_of(missing), " when minimizing the loss"));
  return updates;
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Optimizer::all_slots() const {
  std::vector<Slot> all = slots();
  if (options_.use_ema) all.push_back({"average", 0.0f});
  return all;
}

DISTRIBUTE_INLINE void Optimizer::add_slots(std::vector<VariableUpdate>& updates,
                                            ReplicaContext* replica) {
  const std::vector<Slot> wanted = all_slots();
  if (wanted.empty() || slots_.find(updates)) return;
  optim_internal::run_once(replica, [&] {
    slots_.create(updates, wanted,
                  [this](const std::string& slot, const Variable& created, const Variable& weight) {
                    restore_created(slot, created, weight);
                  });
  });
  slots_.find(updates);
}

DISTRIBUTE_INLINE void Optimizer::build(const std::vector<Variable>& variables) {
  std::vector<VariableUpdate> updates;
  for (const Variable& variable : with_parts(variables)) updates.push_back({variable, {}, {}});
  add_slots(updates, get_replica_context());
}

DISTRIBUTE_INLINE void Optimizer::clip(std::vector<VariableUpdate>& updates) const {
  std::vector<Tensor> gradients;
  for (const VariableUpdate& update : updates) gradients.push_back(update.gradient);
  if (options_.global_clipnorm)
    gradients = clip_by_global_norm(gradients, float(*options_.global_clipnorm)).list;
  for (size_t i = 0; i < updates.size(); ++i) {
    Tensor& gradient = gradients[i];
    if (options_.clipnorm) gradient = clip_by_norm(gradient, float(*options_.clipnorm));
    if (const auto limit = options_.clipvalue)
      gradient = clip_by_value(gradient, -float(*limit), float(*limit));
    updates[i].gradient = std::move(gradient);
  }
}

DISTRIBUTE_INLINE void Optimizer::densify(std::vector<VariableUpdate>& updates,
                                          const replica_internal::GradientReducer& reducer) const {
  const bool rows = updates_rows_alone() && !options_.use_ema;
  const auto on_gpu = [&](const Tensor& gradient) {
    return is_gpu(gradient.device()) && !reducer.updates_on_host();
  };
  for (VariableUpdate& update : updates)
    if (is_indexed_slices(update.gradient) &&
        (!rows || decays(update.variable) || on_gpu(update.gradient)))
      update.gradient = update.gradient.row_major();
}

DISTRIBUTE_INLINE Optimizer::Step Optimizer::step_of(const std::vector<VariableUpdate>& updates,
                                                     int64_t done) const {
  Step step{learning_rate(), done, {}};
  for (const VariableUpdate& update : updates) {
    step.decayed.push_back(decays(update.variable));
    if (!factors_.empty()) step.factors.push_back(rate_factor(update.variable));
  }
  return step;
}

/// The mean over the replicas, which have the same ratios, keeps all from changing weights that
/// others still read.
DISTRIBUTE_INLINE void Optimizer::add_ratios(Step& step, const std::vector<VariableUpdate>& updates,
                                             ReplicaContext& replica) const {
  std::vector<float> decays;
  for (size_t i = 0; i < updates.size(); ++i)
    decays.push_back(step.decayed[i] ? float(options_.weight_decay.value_or(0.0)) * step.rate *
                                           optim_internal::factor_at(step.factors, i)
                                     : 0.0f);
  const std::vector<float> mine = layer_ratios(updates, step.done + 1, decays);
  const Tensor all(Shape{int64_t(mine.size())}, mine);
  step.ratios = replica.all_reduce(ReduceOp::Mean, all).to_vector();
}

DISTRIBUTE_INLINE UpdateKernel Optimizer::make_described_kernel(Step step) const {
  const UpdateKernel kernel = make_kernel(step);
  return UpdateKernel(kernel, [this, step = std::move(step)] { return describe(step); });
}

DISTRIBUTE_INLINE UpdateKernel Optimizer::make_kernel(Step step) const {
  const float decay = float(options_.weight_decay.value_or(0.0)) * step.rate;
  const float coupled = float(options_.coupled_weight_decay.value_or(0.0));
  // As in Keras the first step takes the weights as they are.
  const float momentum = step.done == 0 ? 0.0f : float(options_.ema_momentum);
  const size_t own = slots().size();
  const bool differ = !step.factors.empty() || !step.ratios.empty();
  std::vector<VariableFormula> formulas = formulas_of(step);
  GpuUpdate gpu{.formula = formulas.empty() ? GpuFormula{} : formulas[0].gpu,
                .decay = decay,
                .coupled_decay = coupled,
                .decays = step.decayed,
                .keeps_average = options_.use_ema,
                .average_momentum = momentum};
  for (size_t i = 0; differ && i < formulas.size(); ++i)
    gpu.own.push_back({formulas[i].gpu.numbers, formulas[i].decay});
  const auto loop = [=, formulas = std::move(formulas), decayed = std::move(step.decayed),
                     ema = options_.use_ema](size_t update, float* weights, float* const* slots,
                                             const float* gradient, int64_t count) {
    const VariableFormula& one = formulas.at(differ ? update : size_t(decayed.at(update)));
    if (one.decay != 0.0f) optim_internal::scale(weights, one.decay, count);
    one.formula(weights, slots, gradient, count);
    if (ema) optim_internal::average(slots[own], weights, momentum, count);
  };
  return {loop, std::move(gpu)};
}

/// One for each variable where rates or ratios differ; else that without decay, then that with it.
DISTRIBUTE_INLINE std::vector<Optimizer::VariableFormula> Optimizer::formulas_of(
    const Step& step) const {
  std::vector<VariableFormula> formulas;
  const auto add = [&](bool decays, float factor, float ratio) {
    const float rate = step.rate * factor;
    ElementKernel formula = kernel(rate * ratio, step.done + 1);
    const GpuFormula gpu = formula.gpu();
    if (decays && options_.coupled_weight_decay)
      formula = optim_internal::with_coupled_decay(
          std::move(formula), float(*options_.coupled_weight_decay), all_slots().size());
    const float decay = decays ? float(options_.weight_decay.value_or(0.0)) * rate : 0.0f;
    formulas.push_back({std::move(formula), decay, gpu});
  };
  if (step.factors.empty() && step.ratios.empty()) {
    add(false, 1, 1);
    add(true, 1, 1);
    return formulas;
  }
  for (size_t i = 0; i < step.decayed.size(); ++i)
    add(step.decayed[i], optim_internal::factor_at(step.factors, i),
        optim_internal::factor_at(step.ratios, i));
  return formulas;
}

DISTRIBUTE_INLINE OptimizerConfig Optimizer::own_config() const {
  OptimizerConfig config;
  config.set_optional("weight_decay", options_.weight_decay);
  if (options_.coupled_weight_decay)
    config.set_optional("coupled_weight_decay", options_.coupled_weight_decay);
  config.set_optional("clipnorm", options_.clipnorm);
  config.set_optional("clipvalue", options_.clipvalue);
  config.set_optional("global_clipnorm", options_.global_clipnorm);
  config.set("clip_per_replica", options_.clip_per_replica);
  config.set("use_ema", options_.use_ema);
  config.set("ema_momentum", options_.ema_momentum);
  config.set_optional("ema_overwrite_frequency", options_.ema_overwrite_frequency);
  config.set("name", options_.name);
  add_config(config);
  return config;
}

DISTRIBUTE_INLINE OptimizerConfig Optimizer::get_config() const {
  if (options_.learning_rate.is_schedule() && !learning_rate_)
    throw UnimplementedError(
        str_cat("get_config: the learning rate of '", options_.name, "' is a schedule"));
  OptimizerConfig config = own_config();
  config.set("learning_rate", double(learning_rate()));
  return config;
}

DISTRIBUTE_INLINE std::string Optimizer::serialize() const {
  check_serializable();
  return optim_internal::optimizer_text(class_name(), get_config());
}

DISTRIBUTE_INLINE std::string Optimizer::describe(const Step& step) const {
  check_serializable();
  OptimizerConfig config = own_config();
  config.set("learning_rate", double(step.rate));
  return optim_internal::kernel_text(
      class_name(), config, {step.rate, step.done, step.decayed, step.factors, step.ratios});
}

DISTRIBUTE_INLINE void Optimizer::check_serializable() const {
  if (class_name().empty())
    throw UnimplementedError(str_cat("the class of the optimizer '", options_.name,
                                     "' has no class_name(), so it cannot be serialized"));
}

DISTRIBUTE_INLINE void Optimizer::overwrite_with_averages(
    const std::vector<VariableUpdate>& updates, int64_t step) {
  const auto frequency = options_.ema_overwrite_frequency;
  if (!options_.use_ema || !frequency || step % *frequency != 0) return;
  std::vector<Variable> variables;
  for (const VariableUpdate& update : updates) variables.push_back(update.variable);
  finalize_variable_values(variables);
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
}
DISTRIBUTE_INLINE void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) {
  if (options_.use_ema) exchange(variables, false);
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
