#pragma once
#include <distribute/base/detail/type_names.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <typeinfo>
#include <utility>

namespace distribute::train_internal {

DISTRIBUTE_INLINE void refuse_batch_hooks(const std::vector<train::CallbackHandle>& callbacks) {
  std::string unsupported;
  for (const train::CallbackHandle& handle : callbacks) {
    const train::Callback& callback = *handle;
    if (handle.needs_batches())
      unsupported += str_cat(" ", base_internal::class_name(typeid(callback)));
  }
  if (!unsupported.empty())
    throw InvalidArgumentError(
        "Batch-level `Callback`s are not supported with `ParameterServerStrategy`. Found "
        "unsupported callbacks:" +
        unsupported);
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE CallbackList::CallbackList(std::vector<CallbackHandle> callbacks, Model& model,
                                             const CallbackParams& params)
    : callbacks_(std::move(callbacks)) {
  std::stable_partition(callbacks_.begin(), callbacks_.end(), [](const CallbackHandle& callback) {
    return !callback->saves_the_others();
  });
  if (model.has_coordinator()) train_internal::refuse_batch_hooks(callbacks_);
  for (const CallbackHandle& callback : callbacks_) {
    callback->set_params(params);
    callback->set_model(model);
  }
}

DISTRIBUTE_INLINE void CallbackList::begin_training() {
  has_begun_ = false;
  for (const bool saves : {true, false})
    for (const CallbackHandle& callback : callbacks_) {
      Logs none;
      if (callback->saves_the_others() == saves) callback->on_train_begin(none);
    }
  has_begun_ = true;
  for (const auto& restore : std::exchange(restored_, {})) restore();
}

DISTRIBUTE_INLINE TensorState CallbackList::after_begin(const TensorState& state) {
  TensorState later = state;
  later.restore = [this, restore = state.restore](const Tensor& saved) {
    if (has_begun_) return restore(saved);
    restored_.push_back([restore, saved] { restore(saved); });
  };
  return later;
}

DISTRIBUTE_INLINE void CallbackList::add_states(CheckpointParts& parts) {
  std::map<std::string, int64_t> used;
  for (const CallbackHandle& callback : callbacks_)
    for (auto& [name, part] : callback->state()) {
      const int64_t number = used[name]++;
      if (const auto* state = std::get_if<TensorState>(&part)) part = after_begin(*state);
      parts.emplace_back(number ? str_cat("callback_", name, "_", number) : "callback_" + name,
                         std::move(part));
    }
}

DISTRIBUTE_INLINE void CallbackList::call(Hook hook, Logs& logs) const {
  for (const CallbackHandle& callback : callbacks_) ((*callback).*hook)(logs);
}
DISTRIBUTE_INLINE void CallbackList::call(NumberedHook hook, int64_t number, Logs& logs) const {
  for (const CallbackHandle& callback : callbacks_) ((*callback).*hook)(number, logs);
}
DISTRIBUTE_INLINE void CallbackList::call(Hook hook) const {
  Logs none;
  call(hook, none);
}
DISTRIBUTE_INLINE void CallbackList::call(NumberedHook hook, int64_t number) const {
  Logs none;
  call(hook, number, none);
}

DISTRIBUTE_INLINE bool CallbackList::wants_batch_metrics() const {
  return std::any_of(callbacks_.begin(), callbacks_.end(), [](const CallbackHandle& callback) {
    return callback->wants_batch_metrics();
  });
}

}  // namespace distribute::train
