#pragma once
/// Settings of the process for all its devices.

#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/process_state.hpp>

#include <memory>

namespace distribute {

class Backend;

/// The settings are written before the first replica thread starts and only read afterwards.
struct DeviceState {
  int logical_cpu_devices = 1;           // tf.config.set_logical_device_configuration
  bool soft_device_placement = true;     // tf.config.set_soft_device_placement
  bool log_device_placement = false;     // tf.debugging.set_log_device_placement
  int intra_op_parallelism_threads = 0;  // tf.config.threading; 0: one for each core
  int inter_op_parallelism_threads = 0;
  /// Allows convolutions to use this library's own kernels, among them Winograd's algorithm, which
  /// are faster, with rounding errors of 2e-6 instead of 3e-7. DISTRIBUTE_WINOGRAD=0 in the
  /// environment turns all of them off.
  bool allow_winograd = Environment().flag("DISTRIBUTE_WINOGRAD", true);
  bool tensor_float_32 = true;  // tf.config.experimental.enable_tensor_float_32_execution
  bool op_determinism = false;  // tf.config.experimental.enable_op_determinism
  /// Chooses kernels of cuDNN by measuring them once for each shape.
  bool cudnn_autotune = Environment().flag("TF_CUDNN_USE_AUTOTUNE", true);
  /// Makes cuDNN's convolutions in 16 bits compute the sums of the following normalization, where
  /// these are asked for (ops_internal::conv2d_with_sums). Such kernels are compiled for each
  /// shape.
  bool cudnn_statistics = Environment().flag("DISTRIBUTE_CUDNN_STATISTICS", false);
  Backend* cpu_backend = nullptr;  // null: the fastest one of this build (device/backend)
};

inline DeviceState& device_state() { return in_process<DeviceState>(); }

}  // namespace distribute
