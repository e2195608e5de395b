#pragma once
#include <distribute/estimator/detail/session_callback.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/train/model.hpp>

namespace distribute::train_internal {

DISTRIBUTE_INLINE void SessionCallback::before_run() {
  context_.emplace(session_);
  for (const train::SessionHookHandle& hook : session_.options().hooks) hook->before_run(*context_);
}

DISTRIBUTE_INLINE bool SessionCallback::after_run(const train::Logs& logs) {
  const train::SessionRunValues values{logs, session_.global_step()};
  for (const train::SessionHookHandle& hook : session_.options().hooks)
    hook->after_run(*context_, values);
  return session_.any_worker(context_->stop_requested() || session_.should_stop());
}

DISTRIBUTE_INLINE void SessionCallback::on_test_batch_end(int64_t, train::Logs& logs) {
  if (after_run(logs)) model().stop_evaluating();
}

DISTRIBUTE_INLINE void SessionCallback::on_predict_batch_end(int64_t, train::Logs& logs) {
  if (after_run(logs)) model().stop_predicting();
}

DISTRIBUTE_INLINE bool SessionCallback::wants_batch_metrics() const {
  return !session_.options().hooks.empty();
}

}  // namespace distribute::train_internal
