#pragma once
/// The loss of labels whose times are not known.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// ctc_loss() of all steps (ops/ctc.hpp), with class 0 as blank. Each row of labels ends with
/// zeros, which do not count. Shapes  y_true [batch, labels], y_pred logits [batch, steps, classes]
/// -> [batch]. Throws  InvalidArgumentError for other shapes, and a 0 between labels. Source
/// tf.keras.losses.ctc
Tensor ctc(const Tensor& y_true, const Tensor& y_pred);

/// ctc() as an object. Predictions with a mask are refused, as in Keras: call ctc_loss() with the
/// lengths. Source  tf.keras.losses.CTC
using CTC = FunctionLoss<ctc>;

}  // namespace distribute::nn
