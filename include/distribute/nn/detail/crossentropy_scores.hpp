#pragma once
/// Inputs of crossentropies: probabilities, or the logits from which they were computed.

#include <distribute/base/config.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/tensor/tensor.hpp>

#include <mutex>
#include <set>
#include <string>

namespace distribute::nn::nn_internal {

/// Attaches `logits` to the probabilities for crossentropies. Results of further operations do not
/// carry them.
/// Source  _keras_logits of Keras's tensors
Tensor with_logits(Tensor probabilities, const Tensor& logits);

/// Returns function(x), with x attached as logits if the function is softmax or sigmoid.
Tensor activated(ActivationFunction function, const Tensor& x);

struct Scores {
  Tensor values;
  bool are_logits;
};

/// Returns the logits attached to the predictions, with which a probability that was rounded to 0
/// still has a logarithm and a slope; without them, the predictions. Warns once for each loss if
/// the predictions contradict `from_logits`: it looks at the first 4096 numbers of each call, on
/// GPUs at those of the first call alone.
Scores scores_of(const char* loss, const Tensor& y_pred, bool from_logits);

/// Warnings that the process has given.
struct ScoreWarnings {
  std::mutex mutex;
  std::set<std::string> given, copied_from_gpu;  // losses; guarded by mutex
};

}  // namespace distribute::nn::nn_internal
