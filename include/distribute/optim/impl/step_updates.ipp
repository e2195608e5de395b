#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/detail/step_updates.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace distribute::optim::optim_internal {

DISTRIBUTE_INLINE std::vector<Tensor> with_zeros_for_unused(std::vector<Tensor> gradients,
                                                            const std::vector<Variable>& variables,
                                                            ReplicaContext& replica) {
  std::vector<int32_t> mine;
  for (const Tensor& gradient : gradients) mine.push_back(gradient ? 1 : 0);
  const Tensor counts =
      replica.all_reduce(ReduceOp::Sum, Tensor(Shape{int64_t(mine.size())}, mine).to(Device{}));
  const auto users = counts.data<int32_t>();
  for (size_t i = 0; i < gradients.size() && i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    if (gradients[i] || users[i] == 0) continue;
    const Device device = variable.value().device();
    gradients[i] = fill(variable.shape(), 0.0f, variable.dtype(), device);
  }
  return gradients;
}

DISTRIBUTE_INLINE void constrain(const Variable& variable) {
  if (!variable.constraint()) return;
  VariableImpl& impl = variable.impl();
  for (int i = 0; i < impl.num_components(); ++i) {
    const Tensor value = variable.constraint()(impl.component(i));
    if (!value || value.shape() != impl.shape() || value.dtype() != impl.dtype())
      throw InvalidArgumentError(str_cat("the constraint of variable '", variable.name(), "' ",
                                         to_string(impl.shape()), " ", name_of(impl.dtype()),
                                         " gave another shape or type"));
    impl.set_component(i, value.renamed());
  }
}

DISTRIBUTE_INLINE void apply_constraints(const std::vector<VariableUpdate>& updates,
                                         ReplicaContext& replica) {
  const auto found = std::find_if(updates.begin(), updates.end(), [](const VariableUpdate& update) {
    return bool(update.variable.constraint());
  });
  if (found == updates.end()) return;
  if (RecordedStep::current())
    throw FailedPreconditionError(str_cat("variable '", found->variable.name(),
                                          "' has a constraint, which cannot be recorded"));
  replica.merge([&] {
    for (const VariableUpdate& update : updates) constrain(update.variable);
  });
}

}  // namespace distribute::optim::optim_internal

namespace distribute::optim {

namespace optim_internal {

/// Adds the update of a variable; a cut variable is updated shard by shard.
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

/// Says what to do when a model was asked for its variables too early.
DISTRIBUTE_INLINE const char* early_call(bool without_variables) {
  return without_variables ? " (layers make their variables at their first call: call the model "
                             "before trainable_variables())"
                           : "";
}

}  // namespace optim_internal

DISTRIBUTE_INLINE std::vector<VariableUpdate> Optimizer::collect(
    const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
    replica_internal::GradientReducer& reducer) {
  if (gradients.size() != variables.size())
    throw InvalidArgumentError(str_cat("apply_gradients: ", gradients.size(), " gradients for ",
                                       variables.size(), " variables",
                                       optim_internal::early_call(gradients.empty())));
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
    optim_internal::add_update(updates, variables[i], gradients[i]);
  }
  reducer.missing(optim_internal::names_of(missing));
  if (updates.empty())
    throw InvalidArgumentError(
        str_cat("No gradients provided for any variable: ", optim_internal::names_of(variables),
                ".", optim_internal::early_call(variables.empty())));
  if (missing.empty()) return updates;
  if (!std::atomic_ref(warned_).exchange(true))
    log_warning("optim", str_cat("Gradients do not exist for variables ",
                                 optim_internal::names_of(missing), " when minimizing the loss"));
  return updates;
}

DISTRIBUTE_INLINE void Optimizer::check_whole(
    const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
    const replica_internal::GradientReducer& reducer) const {
  if (reducer.wishes().shards_slots)
    throw UnimplementedError(str_cat(
        "shard_optimizer_state: the optimizer '", options_.name, "' takes norms of whole ",
        "variables, of which each replica would have a slice; make the strategy without it"));
  for (size_t i = 0; i < variables.size() && i < gradients.size(); ++i) {
    const VariableImpl& impl = variables[i].impl();
    if (gradients[i] && (impl.save_slice_info() || !impl.parts().empty()))
      throw UnimplementedError(str_cat("the optimizer '", options_.name, "' takes norms of whole ",
                                       "variables, and '", variables[i].name(),
                                       "' is cut into parts: use no variable_partitioner"));
  }
}

/// Clips the gradients, and sums them over the replicas if that must come first. Returns whether
/// they are sums.
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

DISTRIBUTE_INLINE void Optimizer::densify(std::vector<VariableUpdate>& updates,
                                          const replica_internal::GradientReducer& reducer) const {
  const auto on_gpu = [&](const Tensor& gradient) {
    return is_gpu(gradient.device()) && !reducer.wishes().updates_on_host;
  };
  for (VariableUpdate& update : updates)
    if (is_indexed_slices(update.gradient) && (!updates_rows_alone() || options_.use_ema ||
                                               decays(update.variable) || on_gpu(update.gradient)))
      update.gradient = update.gradient.row_major();
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

}  // namespace distribute::optim
