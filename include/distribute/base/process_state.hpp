#pragma once
/// The one process-wide object: what a program sets once and every floor reads.

#include <distribute/base/config.hpp>
#include <distribute/base/library_metrics.hpp>
#include <distribute/base/log_state.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace distribute {

/// False when the environment variable is "0".
inline bool env_switch(const char* name) {
  const char* value = std::getenv(name);
  return !value || std::string_view(value) != "0";
}

class Backend;

/// Plain settings are written before the first replica thread starts and only read afterwards.
struct ProcessState {
  std::atomic<uint64_t> next_tensor_id{1};
  std::atomic<uint64_t> next_variable_id{1};
  int logical_cpu_devices = 1;           // tf.config.set_logical_device_configuration
  bool soft_device_placement = true;     // tf.config.set_soft_device_placement
  bool log_device_placement = false;     // tf.debugging.set_log_device_placement
  int intra_op_parallelism_threads = 0;  // tf.config.threading; 0: one for each core
  int inter_op_parallelism_threads = 0;
  /// Convolutions may use our own kernels, those of Winograd's algorithm among them: faster,
  /// rounding errors of 2e-6 rather than 3e-7. DISTRIBUTE_WINOGRAD=0 in the environment turns all
  /// of them off from outside.
  bool allow_winograd = env_switch("DISTRIBUTE_WINOGRAD");
  /// Puts our own convolutions before those of a backend (device/own_convolutions); null: none.
  std::unique_ptr<Backend> (*own_convolutions)(Backend& backend) = nullptr;
  std::string mixed_precision_policy = "float32";  // tf.keras.mixed_precision (nn/policy)
  bool tensor_float_32 = true;  // tf.config.experimental.enable_tensor_float_32_execution
  bool op_determinism = false;  // tf.config.experimental.enable_op_determinism
  /// Kernels of cuDNN are chosen by measuring them once for each shape.
  bool cudnn_autotune = env_switch("TF_CUDNN_USE_AUTOTUNE");
  std::atomic<uint64_t> global_seed{0};   // tf.random.set_seed
  void* cpu_backend = nullptr;            // Backend*, null: the fastest built in (device/backend)
  std::shared_ptr<void> global_strategy;  // set by experimental_set_strategy (strategy/strategy)
  std::shared_ptr<void> default_strategy;
  std::shared_ptr<void> own_tasks;              // by job and index (device/placement)
  std::shared_ptr<void> remote_functions;       // by name (coordinator/registry)
  std::shared_ptr<void> coordinators;           // by strategy (coordinator/cluster_coordinator)
  std::shared_ptr<void> optimizer_classes;      // that can be deserialized (optim/serialization)
  std::atomic<int64_t> termination_signals{0};  // signals counted so far (base/termination_signal)
  std::atomic<const void*> summary_writer{nullptr};  // const FileWriter* (summary/file_writer)
  std::shared_ptr<void> file_systems;                // by scheme (io/file_system)
  monitoring::LibraryMetrics metrics;
  LogState log;
  std::shared_ptr<void> metrics_sinks;      // by name (base/metrics_sink)
  std::shared_ptr<void> cluster_resolvers;  // by name (cluster/resolver_registry)
  std::shared_ptr<void> module_saver;       // nn::ModuleSaver (nn/module_saver)
  std::mutex metrics_server_mutex;          // guards the next
  std::shared_ptr<void> metrics_server;     // metrics/metrics_server
  std::shared_ptr<void> horovod;            // the Engine of hvd::init (horovod/engine)
};

/// Lives from first use to the end of the process.
inline ProcessState& process_state() {
  static auto* state = new ProcessState;
  return *state;
}

/// The object that `place` owns, made at the first use. Thread-safe.
template <typename T>
T& in_process(std::shared_ptr<void> ProcessState::*place) {
  static T* const made = [place] {
    auto fresh = std::make_shared<T>();
    process_state().*place = fresh;
    return fresh.get();
  }();
  return *made;
}

}  // namespace distribute
