#pragma once
/// Ends a session whose loss is no number any more.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/base/error.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <string>
#include <utility>

namespace distribute::train {

/// For a loss that is NaN or infinite. Source  tf.estimator.NanLossDuringTrainingError
class NanLossDuringTrainingError : public FailedPreconditionError {
 public:
  using FailedPreconditionError::FailedPreconditionError;
};

struct NanTensorHookOptions {    // options of NanTensorHook
  std::string tensor = "loss";   // the figure's name
  bool fail_on_nan_loss = true;  // else the session ends well
};

/// Steps that do not give the figure are not looked at.
/// Source  tf.estimator.NanTensorHook
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(EmptyBraces) : NanTensorHook() {}
  explicit NanTensorHook(NanTensorHookOptions options = {}) : options_(std::move(options)) {}
  /// Throws  NanLossDuringTrainingError that names figure and step.
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;

 private:
  NanTensorHookOptions options_;
};

}  // namespace distribute::train
