#pragma once
/// Which devices a process sees and uses, and how much memory and precision they take.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// While it lives, new tensors and variables of the calling thread go to its device. Scopes end in
/// the reverse order of their beginning. Operations run where their first operand is.
class [[nodiscard]] DeviceScope {
 public:
  /// Every part that `spec` gives, the others from the scope outside. Tensors and operations always
  /// stay in this process. A task of another process is an error, or with soft placement a warning,
  /// told once; but for parameter servers (job "ps"), whose tasks device functions such as
  /// train::replica_device_setter read from current_device_spec().
  explicit DeviceScope(const DeviceSpec& spec);
  /// The device itself, whether or not it is a logical device; for replica threads.
  explicit DeviceScope(Device device);
  /// Forgets the scopes outside.
  explicit DeviceScope(std::nullopt_t);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
};

/// A scope for "/gpu:0", "CPU:1" or "/job:worker/task:2/device:CPU:0".
/// Throws  InvalidArgumentError for an invalid name; and, without soft placement, for a task
///         of another process and for a device that this one lacks, listing those it has.
/// Source  tf.device
DeviceScope device(const std::string& name);
/// device(std::nullopt) is tf.device(None): forgets the scopes outside.
DeviceScope device(std::nullopt_t);

/// Where a new tensor of the calling thread goes; "/device:CPU:0" outside of all scopes.
Device current_device();
/// The name that the scopes of the calling thread give together.
DeviceSpec current_device_spec();

namespace config {

/// A device as programs name it. Source  tf.config.LogicalDevice
struct LogicalDevice {
  std::string name;         // "/device:CPU:0"
  std::string device_type;  // "CPU"
};

/// The devices of one type, or all.
/// Source  tf.config.list_logical_devices
std::vector<LogicalDevice> list_logical_devices(const std::string& device_type = "");

/// Divides the host into `logical_cpus` CPU devices, which share its memory and cores. To be called
/// before threads run.
/// Throws  InvalidArgumentError for fewer than one.
/// Source  tf.config.set_logical_device_configuration
void set_logical_device_configuration(int logical_cpus);

/// A CPU or GPU of this machine.
/// Source  tf.config.PhysicalDevice
struct PhysicalDevice {
  std::string name;         // "/physical_device:GPU:0"
  std::string device_type;  // "GPU"
  bool operator==(const PhysicalDevice&) const = default;
};

/// The devices of one type, or all. Asks CUDA's driver, where there is one.
/// Source  tf.config.list_physical_devices
std::vector<PhysicalDevice> list_physical_devices(const std::string& device_type = "");

/// One logical GPU of a physical one. Source  tf.config.LogicalDeviceConfiguration
struct LogicalDeviceConfiguration {
  int64_t memory_limit_mb = 0;  // 0: none; memory grows as it is needed
};

/// Divides one GPU (or the CPU) into several logical devices, so that several replicas can be
/// tried on it.
/// Throws  InvalidArgumentError for a device that does not exist; FailedPreconditionError when
///         GPUs are in use already.
/// Source  tf.config.set_logical_device_configuration
void set_logical_device_configuration(const PhysicalDevice& device,
                                      const std::vector<LogicalDeviceConfiguration>& devices);

/// Whether a device that is missing is replaced by the CPU (logged once) or an error.
/// Source  tf.config.set_soft_device_placement
void set_soft_device_placement(bool enabled);
bool get_soft_device_placement();

namespace threading {

/// Threads inside one operation of the calling thread and of the replicas it starts; 0: one for
/// each core.
/// Throws  InvalidArgumentError for a negative number.
/// Source  tf.config.threading.set_intra_op_parallelism_threads
void set_intra_op_parallelism_threads(int threads);
int get_intra_op_parallelism_threads();

/// Operations that may run side by side, such as the elements of a parallel map; 0: one for each
/// core.
/// Throws  InvalidArgumentError for a negative number.
/// Source  tf.config.threading.set_inter_op_parallelism_threads
void set_inter_op_parallelism_threads(int threads);
int get_inter_op_parallelism_threads();

}  // namespace threading

}  // namespace config

/// Says why this process sees no GPU; empty when it sees one.
std::string gpu_problem();

namespace debugging {

/// Writes to stderr on which device each operation runs, constants ("_EagerConst") and variables
/// ("VarHandleOp") included.
/// Source  tf.debugging.set_log_device_placement
void set_log_device_placement(bool enabled);
bool get_log_device_placement();

}  // namespace debugging

namespace device_internal {

/// "/job:localhost/replica:0/task:0/device:CPU:0".
std::string full_name(Device device);
/// The device of this process that `spec` asks for.
Device resolve_device(const DeviceSpec& spec);
/// One line of the placement log.
void log_placement(const char* op, Device device);
void log_placement(const char* op, const std::string& device_name);
/// This process is the task `index` of `job`, which device scopes may name. Thread-safe.
void add_own_task(const std::string& job, int index);

}  // namespace device_internal

}  // namespace distribute

namespace distribute::config::experimental {

/// Memory of GPUs always grows as it is needed, so that `true` changes nothing. A limit is set by
/// LogicalDeviceConfiguration::memory_limit_mb.
/// Throws  InvalidArgumentError for a device that is no GPU of this machine; UnimplementedError for
///         `false`, TensorFlow's default: nearly all memory at once.
/// Source  tf.config.experimental.set_memory_growth
void set_memory_growth(const PhysicalDevice& device, bool enable);

/// Throws  InvalidArgumentError as set_memory_growth().
/// Source  tf.config.experimental.get_memory_growth
bool get_memory_growth(const PhysicalDevice& device);

}  // namespace distribute::config::experimental

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
