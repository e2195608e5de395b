#pragma once
/// Options of Strategy::run.

#include <distribute/base/config.hpp>

namespace distribute {

/// All of them are about XLA and TPUs. TensorFlow's other strategies ignore them; here what cannot
/// be done is refused.
/// Source  tf.distribute.RunOptions
struct RunOptions {
  /// Replicas' batches may differ in size: they always may, and false is refused.
  bool experimental_enable_dynamic_batch_size = true;
  /// Pads to a power of two so that XLA compiles less often: true is refused.
  bool experimental_bucketizing_dynamic_shape = false;

  /// Throws  UnimplementedError that names the option.
  void check() const;
};

}  // namespace distribute
