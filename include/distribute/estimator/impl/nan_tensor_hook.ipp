#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <cmath>

namespace distribute::train {

DISTRIBUTE_INLINE void NanTensorHook::after_run(SessionRunContext& context,
                                                const SessionRunValues& values) {
  const double* value = values.results.find(options_.tensor);
  if (!value || std::isfinite(*value)) return;
  const char* what = std::isnan(*value) ? "NaN" : *value > 0 ? "Inf" : "-Inf";
  const std::string message = str_cat("Model diverged with ", options_.tensor, " = ", what,
                                      ". The step was ", values.global_step);
  if (options_.fail_on_nan_loss)
    throw NanLossDuringTrainingError("NaN loss during training. " + message);
  if (context.session().is_chief()) log_warning("train", message);
  context.request_stop();
}

}  // namespace distribute::train
