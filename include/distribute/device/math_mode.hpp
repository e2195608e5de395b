#pragma once
/// How exact and how repeatable the fast kernels of a device must be.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/device_state.hpp>

#include <string_view>

namespace distribute::config {

/// How exact float32 products must be, those of convolutions among them. "high", at the start:
/// convolutions of 3x3 and 5x5 filters on the CPU may take Winograd's algorithm, whose rounding
/// errors are about 2e-6 of the results' size, and GPUs TensorFloat-32 (1e-3). "highest": sums are
/// made directly in float32 (3e-7); for comparing runs with those of other programs. Before the
/// first step; DISTRIBUTE_WINOGRAD=0 in the environment is "highest" for the CPU from the start.
/// Throws  InvalidArgumentError for other words; UnimplementedError for "medium".
/// Source  torch.set_float32_matmul_precision; JAX's jax_default_matmul_precision
void set_float32_matmul_precision(std::string_view precision);
/// "highest" or "high".
/// Source  torch.get_float32_matmul_precision
std::string_view get_float32_matmul_precision();

}  // namespace distribute::config

namespace distribute::config::experimental {

/// Whether float32 products on GPUs may round their operands to 10 bits (TensorFloat-32), which
/// tensor cores multiply several times faster; true at the start, as in TensorFlow.
/// Source  tf.config.experimental.enable_tensor_float_32_execution
inline void enable_tensor_float_32_execution(bool enabled) {
  device_state().tensor_float_32 = enabled;
}
/// Source  tf.config.experimental.tensor_float_32_execution_enabled
inline bool tensor_float_32_execution_enabled() { return device_state().tensor_float_32; }

/// From now on every operation gives the same bits for the same input on the same device. On the
/// CPU that is so for a number of threads, which no longer changes when other programs take cores;
/// on GPUs kernels that add in the order of arrival are not used, and none is chosen by its
/// measured time.
/// Source  tf.config.experimental.enable_op_determinism
void enable_op_determinism();
inline bool is_op_determinism_enabled() { return device_state().op_determinism; }

}  // namespace distribute::config::experimental
