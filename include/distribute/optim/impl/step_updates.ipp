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

#include <atomic>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

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
  if (!std::atomic_ref(warned_).exchange(true))
    log_warning("optim", str_cat("Gradients do not exist for variables ",
                                 optim_internal::names_of(missing), " when minimizing the loss"));
  return updates;
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
