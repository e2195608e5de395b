#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE Tensor with_logits(Tensor probabilities, const Tensor& logits) {
  TensorHints::of(probabilities).logits = logits;
  return probabilities;
}

DISTRIBUTE_INLINE Tensor activated(ActivationFunction function, const Tensor& x) {
  const bool has_logits = function == static_cast<ActivationFunction>(softmax) ||
                          function == static_cast<ActivationFunction>(sigmoid);
  return has_logits ? with_logits(function(x), x) : function(x);
}

DISTRIBUTE_INLINE void warn_once_of(const char* loss, const char* problem) {
  auto& warnings = in_process<ScoreWarnings>();
  {
    const std::lock_guard lock(warnings.mutex);
    if (!warnings.given.insert(loss).second) return;
  }
  log_warning("nn", str_cat(loss, problem));
}

/// Whether the process may look at the numbers without making the program slower.
DISTRIBUTE_INLINE bool may_look_at(const char* loss, const Tensor& y_pred) {
  if (RecordedStep::current() || !is_floating(y_pred.dtype())) return false;
  auto& warnings = in_process<ScoreWarnings>();
  const std::lock_guard lock(warnings.mutex);
  if (warnings.given.contains(loss)) return false;
  return !is_gpu(y_pred.device()) || warnings.copied_from_gpu.insert(loss).second;
}

DISTRIBUTE_INLINE bool is_outside_of_unit(const Tensor& y_pred) {
  const Tensor here = y_pred.to(Device());
  const size_t count = size_t(std::min<int64_t>(here.num_elements(), 4096));
  return dispatch(here.dtype(), [&](auto type) {
    const auto values = here.data<decltype(type)>().first(count);
    return std::any_of(values.begin(), values.end(), [](auto value) {
      return float(value) < -1e-5f || float(value) > 1 + 1e-5f;
    });
  });
}

DISTRIBUTE_INLINE Scores scores_of(const char* loss, const Tensor& y_pred, bool from_logits) {
  if (const Tensor logits = TensorHints::of(y_pred).logits) {
    if (from_logits)
      warn_once_of(
          loss,
          " got from_logits = true for predictions that softmax or sigmoid has made, which "
          "are no logits; the logits before it are used");
    return {logits, true};
  }
  if (!from_logits && may_look_at(loss, y_pred) && is_outside_of_unit(y_pred))
    warn_once_of(loss,
                 " wants probabilities and got values outside of [0, 1]; where the model gives "
                 "logits, set from_logits = true, or end it in softmax or sigmoid");
  return {y_pred, from_logits};
}

}  // namespace distribute::nn::nn_internal
