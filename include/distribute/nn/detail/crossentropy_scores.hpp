#pragma once
/// What crossentropies compute with: probabilities, or the logits that they were made of.

#include <distribute/base/config.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/tensor/tensor.hpp>

#include <mutex>
#include <set>
#include <string>

namespace distribute::nn::nn_internal {

/// The result keeps `logits` for crossentropies, until another operation takes it.
/// Source  _keras_logits of Keras's tensors
Tensor with_logits(Tensor probabilities, const Tensor& logits);

/// function(x); with its logits where it is softmax or sigmoid.
Tensor activated(ActivationFunction function, const Tensor& x);

struct Scores {
  Tensor values;
  bool are_logits;
};

/// The logits that predictions were made of, where they are known: a probability that has become 0
/// still has a logarithm and a slope then. Else the predictions as they are. Warns once for each
/// loss of predictions that are not what `from_logits` says: it looks at the first 4096 numbers of
/// each call, on GPUs at those of the first call alone.
Scores scores_of(const char* loss, const Tensor& y_pred, bool from_logits);

/// The warnings that the process has given.
struct ScoreWarnings {
  std::mutex mutex;
  std::set<std::string> given, copied_from_gpu;  // losses; guarded by mutex
};

}  // namespace distribute::nn::nn_internal
