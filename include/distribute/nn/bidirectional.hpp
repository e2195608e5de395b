#pragma once
/// A recurrent layer in both directions.

#include <distribute/base/config.hpp>
#include <distribute/nn/recurrent.hpp>

namespace distribute::nn {

/// How the outputs of both directions become one.
enum class MergeMode : uint8_t { Concat, Sum, Mul, Ave };

struct BidirectionalOptions {  // options of Bidirectional
  MergeMode merge_mode = MergeMode::Concat;
  std::string name = {};
};

/// Two layers with the options of the given one, "forward_<its name>" and "backward_<its name>",
/// each with its own weights; the backward one reads from the last step, and its outputs are turned
/// back into the order of the steps. With return_sequences masked steps give 0.
/// Shapes  [batch, steps, inputs] -> as the layer's, with Concat twice as wide.
/// Source  tf.keras.layers.Bidirectional
class Bidirectional : public Module {
 public:
  explicit Bidirectional(const RecurrentLayer& layer, BidirectionalOptions options = {});
  /// The output with the states of the forward layer and then those of the backward one.
  RecurrentResult call_with_states(const Tensor& x, const std::vector<Tensor>& initial = {},
                                   CallOptions options = {});
  /// How the outputs of both directions become one.
  MergeMode merge_mode() const { return merge_mode_; }
  /// The layer that reads from the first step.
  const RecurrentLayer& forward_layer() const { return *forward_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE Masked masked_call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "bidirectional"; }
  Tensor merge(const Tensor& forward, const Tensor& backward) const;

  MergeMode merge_mode_;
  bool return_sequences_;
  RecurrentLayer *forward_, *backward_;
};

}  // namespace distribute::nn
