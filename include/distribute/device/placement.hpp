#pragma once
/// Where new tensors go: device scopes, the devices of this process, placement settings.

#include <distribute/base/config.hpp>
#include <distribute/device/device.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
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
