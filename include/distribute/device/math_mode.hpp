#pragma once
/// How exact and how repeatable the fast kernels of a device must be.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

namespace distribute::config::experimental {

/// Whether float32 products on GPUs may round their operands to 10 bits (TensorFloat-32), which
/// tensor cores multiply several times faster; true at the start, as in TensorFlow.
/// Source  tf.config.experimental.enable_tensor_float_32_execution
inline void enable_tensor_float_32_execution(bool enabled) {
  process_state().tensor_float_32 = enabled;
}
/// Source  tf.config.experimental.tensor_float_32_execution_enabled
inline bool tensor_float_32_execution_enabled() { return process_state().tensor_float_32; }

/// From now on every operation gives the same bits for the same input on the same device. On the
/// CPU that is always so; on GPUs kernels that add in the order of arrival are not used, and none
/// is chosen by its measured time.
/// Source  tf.config.experimental.enable_op_determinism
inline void enable_op_determinism() { process_state().op_determinism = true; }
inline bool is_op_determinism_enabled() { return process_state().op_determinism; }

}  // namespace distribute::config::experimental
