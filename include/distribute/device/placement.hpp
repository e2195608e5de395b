#pragma once
/// Chooses the devices that a process sees and uses, and their memory and precision.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// While it lives, new tensors and variables of the calling thread are placed on its device. Scopes
/// end in the reverse order of their beginning. Operations run where their first operand is.
class [[nodiscard]] DeviceScope {
 public:
  /// Takes every part that `spec` gives, and the other parts from the enclosing scope. Tensors and
  /// operations always stay in this process: a task of another process is an error or, with soft
  /// placement, a warning, logged once. Parameter servers (job "ps") are an exception: device
  /// functions such as train::replica_device_setter read their tasks from current_device_spec().
  explicit DeviceScope(const DeviceSpec& spec);
  /// Selects the device itself, whether or not it is a logical device; replica threads use it.
  explicit DeviceScope(Device device);
  /// Ignores the enclosing scopes.
  explicit DeviceScope(std::nullopt_t);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
};

/// Returns a scope for "/gpu:0", "CPU:1" or "/job:worker/task:2/device:CPU:0".
/// Throws  InvalidArgumentError for an invalid name; and, without soft placement, for a task
///         of another process and for a device that this one lacks, listing those it has.
/// Source  tf.device
DeviceScope device(const std::string& name);
/// device(std::nullopt) is tf.device(None): it ignores the enclosing scopes.
DeviceScope device(std::nullopt_t);

/// Returns the device of the calling thread's new tensors; "/device:CPU:0" outside of all scopes.
Device current_device();
/// Returns the name that all scopes of the calling thread give together.
DeviceSpec current_device_spec();

namespace config {

/// A device as programs name it. Source  tf.config.LogicalDevice
struct LogicalDevice {
  std::string name;         // "/device:CPU:0"
  std::string device_type;  // "CPU"
};

/// Lists the devices of one type, or all devices.
/// Source  tf.config.list_logical_devices
std::vector<LogicalDevice> list_logical_devices(const std::string& device_type = "");

/// Divides the host into `logical_cpus` CPU devices, which share its memory and cores. Call it
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

/// Lists the devices of one type, or all devices. It asks CUDA's driver, if there is one.
/// Source  tf.config.list_physical_devices
std::vector<PhysicalDevice> list_physical_devices(const std::string& device_type = "");

/// One logical GPU of a physical one. Source  tf.config.LogicalDeviceConfiguration
struct LogicalDeviceConfiguration {
  int64_t memory_limit_mb = 0;  // 0: no limit; memory grows as it is needed
};

/// Divides one GPU (or the CPU) into several logical devices, so that several replicas can be
/// tried on it.
/// Throws  InvalidArgumentError for a device that does not exist; FailedPreconditionError when
///         GPUs are in use already.
/// Source  tf.config.set_logical_device_configuration
void set_logical_device_configuration(const PhysicalDevice& device,
                                      const std::vector<LogicalDeviceConfiguration>& devices);

/// Decides whether a missing device is replaced by the CPU (logged once) or is an error.
/// Source  tf.config.set_soft_device_placement
void set_soft_device_placement(bool enabled);
bool get_soft_device_placement();

namespace threading {

/// Sets the number of threads inside one operation of the calling thread and of the replicas it
/// starts; 0 means one for each core.
/// Throws  InvalidArgumentError for a negative number.
/// Source  tf.config.threading.set_intra_op_parallelism_threads
void set_intra_op_parallelism_threads(int threads);
int get_intra_op_parallelism_threads();

/// Sets the number of operations that may run side by side, such as the elements of a parallel map;
/// 0 means one for each core.
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

/// Gives "/job:localhost/replica:0/task:0/device:CPU:0".
std::string full_name(Device device);
/// Returns the device of this process that `spec` asks for.
Device resolve_device(const DeviceSpec& spec);
/// Writes one line of the placement log.
void log_placement(const char* op, Device device);
void log_placement(const char* op, const std::string& device_name);
/// Makes this process the task `index` of `job`, which device scopes may then name. Thread-safe.
void add_own_task(const std::string& job, int index);

}  // namespace device_internal

}  // namespace distribute

namespace distribute::config::experimental {

/// Accepts `true`, which changes nothing, as the memory of GPUs always grows when it is needed. A
/// limit is set by LogicalDeviceConfiguration::memory_limit_mb.
/// Throws  InvalidArgumentError for a device that is not a GPU of this machine; UnimplementedError
///         for `false`, TensorFlow's default, which takes nearly all memory at once.
/// Source  tf.config.experimental.set_memory_growth
void set_memory_growth(const PhysicalDevice& device, bool enable);

/// Returns true, as the memory of GPUs always grows when it is needed.
/// Throws  what set_memory_growth() throws for a device that is not a GPU.
/// Source  tf.config.experimental.get_memory_growth
bool get_memory_growth(const PhysicalDevice& device);

}  // namespace distribute::config::experimental

namespace distribute::config {

/// Sets the precision of float32 products, including those of convolutions. "high", the default,
/// allows Winograd's algorithm for convolutions of 3x3 and 5x5 filters on the CPU, with rounding
/// errors of about 2e-6 of the results' size, and TensorFloat-32 on GPUs (1e-3). "highest" computes
/// direct sums in float32 (3e-7), for comparing runs with other programs. Call it before the first
/// step. DISTRIBUTE_WINOGRAD=0 in the environment makes "highest" the CPU's default.
/// Throws  InvalidArgumentError for other words; UnimplementedError for "medium".
/// Source  torch.set_float32_matmul_precision; JAX's jax_default_matmul_precision
void set_float32_matmul_precision(std::string_view precision);
/// Gives "highest" or "high".
/// Source  torch.get_float32_matmul_precision
std::string_view get_float32_matmul_precision();

}  // namespace distribute::config

namespace distribute::config::experimental {

/// Decides whether float32 products on GPUs may round their operands to 10 bits (TensorFloat-32),
/// which tensor cores multiply several times faster. The default is true, as in TensorFlow.
/// Source  tf.config.experimental.enable_tensor_float_32_execution
inline void enable_tensor_float_32_execution(bool enabled) {
  device_state().tensor_float_32 = enabled;
}
/// Source  tf.config.experimental.tensor_float_32_execution_enabled
inline bool tensor_float_32_execution_enabled() { return device_state().tensor_float_32; }

/// From now on every operation gives the same bits for the same input on the same device. On the
/// CPU that holds for a fixed number of threads, which then no longer changes when other programs
/// take cores. On GPUs, kernels that add in the order of arrival are not used, and no kernel is
/// chosen by its measured time.
/// Source  tf.config.experimental.enable_op_determinism
void enable_op_determinism();
inline bool is_op_determinism_enabled() { return device_state().op_determinism; }

}  // namespace distribute::config::experimental
