#pragma once
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/elastic_state.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>

#include <utility>

namespace distribute::hvd::elastic {

DISTRIBUTE_INLINE void State::commit() {
  save();
  check_host_updates();
}

DISTRIBUTE_INLINE void State::check_host_updates() {
  if (!hosts_updated_) return;
  const Tensor any = allreduce(Tensor(int32_t{hosts_updated_()}),
                               {.op = Max, .name = "elastic.check_host_updates"});
  if (any.item<int32_t>() != 0) throw HostsUpdatedInterrupt();
}

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
    field.set(broadcast_object(field.get(), 0, "elastic." + field.name));
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

/// The values are shared until somebody writes, so that this costs no copy by itself.
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
  broadcast_variables(variables(), 0);
  ObjectState::sync();
  TensorFlowKerasState::save();
}

}  // namespace distribute::hvd::elastic
