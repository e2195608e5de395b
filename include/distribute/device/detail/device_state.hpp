#pragma once
/// What a program sets once for all devices of the process.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <memory>

namespace distribute {

class Backend;

/// Plain settings are written before the first replica thread starts and only read afterwards.
struct DeviceState {
  int logical_cpu_devices = 1;           // tf.config.set_logical_device_configuration
  bool soft_device_placement = true;     // tf.config.set_soft_device_placement
  bool log_device_placement = false;     // tf.debugging.set_log_device_placement
  int intra_op_parallelism_threads = 0;  // tf.config.threading; 0: one for each core
  int inter_op_parallelism_threads = 0;
  /// Convolutions may use our own kernels, those of Winograd's algorithm among them: faster,
  /// rounding errors of 2e-6 rather than 3e-7. DISTRIBUTE_WINOGRAD=0 in the environment turns all
  /// of them off from outside.
  bool allow_winograd = env_switch("DISTRIBUTE_WINOGRAD");
  bool tensor_float_32 = true;  // tf.config.experimental.enable_tensor_float_32_execution
  bool op_determinism = false;  // tf.config.experimental.enable_op_determinism
  /// Kernels of cuDNN are chosen by measuring them once for each shape.
  bool cudnn_autotune = env_switch("TF_CUDNN_USE_AUTOTUNE");
  /// cuDNN's convolutions in 16 bits sum for the normalization behind them, where that is asked for
  /// (nn::Conv2DOptions::sums_channels). Such kernels are compiled for each shape.
  bool cudnn_statistics = env_switch("DISTRIBUTE_CUDNN_STATISTICS", false);
  Backend* cpu_backend = nullptr;  // null: the fastest built in (device/backend)
};

inline DeviceState& device_state() { return in_process<DeviceState>(); }

}  // namespace distribute
