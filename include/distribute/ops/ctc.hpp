#pragma once
/// Connectionist temporal classification: labels without their times, and how they are read from
/// scores of classes.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::nn {

/// Computes -log of the probability that the classes of all steps give the labels, where a class
/// that repeats counts once and the blank, class `mask_index` (-1: the last), counts nothing. Sums
/// are taken in log space and double precision; there is a gradient, and no second one. A label
/// that does not fit into its steps has no such path: as in TensorFlow, paths that end before the
/// label does count 1e-307 times, so that the loss is about 707; its gradient is its derivative,
/// where TensorFlow's is not. It is computed on the CPU.
/// Shapes  target integer [batch, labels], output logits [batch, steps, classes], both lengths
///         integer [batch] -> float32 [batch].
/// Throws  InvalidArgumentError for other shapes, a length below 0 or beyond its tensor, and a
/// label
///         that is the blank or no class.
/// Source  keras.ops.ctc_loss, tf.nn.ctc_loss; Graves et al. 2006
Tensor ctc_loss(const Tensor& target, const Tensor& output, const Tensor& target_length,
                const Tensor& output_length, int64_t mask_index = 0);

/// How ctc_decode() looks for labels: the best class of each step, or the best labels over all
/// paths among the `beam_width` best beginnings.
enum class CtcStrategy : uint8_t { Greedy, BeamSearch };

struct CtcDecodeOptions {  // options of ctc_decode()
  CtcStrategy strategy = CtcStrategy::Greedy;
  int64_t beam_width = 100;    // of BeamSearch
  int64_t top_paths = 1;       // of BeamSearch: number of results of each example
  bool merge_repeated = true;  // false, of Greedy: a class that repeats counts each time
  int64_t mask_index = 0;      // the blank; -1: the last class
};

struct CtcDecoded {  // result of ctc_decode()
  Tensor decoded;    // int32 [paths, batch, steps]: the labels, then -1
  /// float32 [batch, paths]: log probabilities; of Greedy the negative sum of the largest inputs.
  Tensor scores;
};

/// Finds labels for scores of classes. It has no gradient, and is computed on the CPU.
/// Shapes  inputs logits [batch, steps, classes], sequence_lengths integer [batch].
/// Throws  InvalidArgumentError for other shapes, a length outside [0, steps], more paths than the
///         beam holds, and options that the strategy does not have.
/// Source  keras.ops.ctc_decode
CtcDecoded ctc_decode(const Tensor& inputs, const Tensor& sequence_lengths,
                      const CtcDecodeOptions& options = {});

}  // namespace distribute::nn
