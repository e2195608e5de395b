#pragma once
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/elastic_state.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>

#include <utility>

namespace distribute::hvd::elastic {

DISTRIBUTE_INLINE void State::commit() {
  save();
  if (job_) job_->count_commit();
  check_host_updates();
}

DISTRIBUTE_INLINE void State::check_host_updates() {
  if (job_) job_->check_members();
}

DISTRIBUTE_INLINE int State::source() const { return job_ ? job_->source() : 0; }

DISTRIBUTE_INLINE StateInJob::StateInJob(State& state,
                                         std::shared_ptr<horovod_internal::ElasticJob> job)
    : state_(state) {
  state_.job_ = std::move(job);
}
DISTRIBUTE_INLINE StateInJob::~StateInJob() { state_.job_.reset(); }

DISTRIBUTE_INLINE void State::register_reset_callbacks(
    std::vector<std::function<void()>> callbacks) {
  for (auto& callback : callbacks) reset_callbacks_.push_back(std::move(callback));
}

DISTRIBUTE_INLINE void State::on_reset() {
  for (const auto& callback : reset_callbacks_) callback();
}

DISTRIBUTE_INLINE void ObjectState::add_field(Field field) {
  field.saved = field.get();
  fields_.push_back(std::move(field));
}

DISTRIBUTE_INLINE void ObjectState::save() {
  for (Field& field : fields_) field.saved = field.get();
}

DISTRIBUTE_INLINE void ObjectState::restore() {
  for (const Field& field : fields_) field.set(field.saved);
}

DISTRIBUTE_INLINE void ObjectState::sync() {
  for (const Field& field : fields_)
    field.set(broadcast_object(field.get(), source(), "elastic." + field.name));
  ObjectState::save();
}

DISTRIBUTE_INLINE TensorFlowKerasState::TensorFlowKerasState(const nn::Module& model,
                                                             optim::Optimizer& optimizer)
    : model_(model), optimizer_(optimizer) {
  optimizer_.build(model_.trainable_variables());
  TensorFlowKerasState::save();
}

DISTRIBUTE_INLINE std::vector<Variable> TensorFlowKerasState::variables() const {
  std::vector<Variable> all = variables_of(model_);
  for (const Variable& variable : variables_of(optimizer_)) all.push_back(variable);
  return all;
}

/// Keeps the values, which are shared until they are written, so that this makes no copy.
DISTRIBUTE_INLINE void TensorFlowKerasState::save() {
  ObjectState::save();
  saved_.clear();
  for (const Variable& variable : variables()) saved_.push_back(stop_gradient(variable.value()));
}

DISTRIBUTE_INLINE void TensorFlowKerasState::restore() {
  ObjectState::restore();
  const std::vector<Variable> all = variables();
  for (size_t i = 0; i < saved_.size(); ++i) all[i].assign(saved_[i]);
}

DISTRIBUTE_INLINE void TensorFlowKerasState::sync() {
  broadcast_variables(variables(), source());
  ObjectState::sync();
  TensorFlowKerasState::save();
}

}  // namespace distribute::hvd::elastic
