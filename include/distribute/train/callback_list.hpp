#pragma once
/// Calls the hooks of all callbacks of a loop in turn.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <vector>

namespace distribute::train {

/// Calls the callbacks of a loop in their order. Source  tf.keras.callbacks.CallbackList
class CallbackList {
 public:
  using Hook = void (Callback::*)(Logs&);
  using NumberedHook = void (Callback::*)(int64_t, Logs&);

  /// Throws  InvalidArgumentError, with a coordinator, for those that want single batches.
  CallbackList(std::vector<CallbackHandle> callbacks, Model& model, const CallbackParams& params);
  void call(Hook hook, Logs& logs) const;
  void call(NumberedHook hook, int64_t number, Logs& logs) const;
  /// The same with empty logs, for hooks that have none.
  void call(Hook hook) const;
  void call(NumberedHook hook, int64_t number) const;
  bool wants_batch_metrics() const;

 private:
  std::vector<CallbackHandle> callbacks_;
};

}  // namespace distribute::train
