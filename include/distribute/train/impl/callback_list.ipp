#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace distribute::train_internal {

DISTRIBUTE_INLINE void refuse_batch_hooks(const std::vector<train::CallbackHandle>& callbacks) {
  std::string unsupported;
  for (const train::CallbackHandle& handle : callbacks) {
    const train::Callback& callback = *handle;
    if (handle.needs_batches()) unsupported += str_cat(" ", typeid(callback).name());
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
  if (model.has_coordinator()) train_internal::refuse_batch_hooks(callbacks_);
  for (const CallbackHandle& callback : callbacks_) {
    callback->set_params(params);
    callback->set_model(model);
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
