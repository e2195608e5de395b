#pragma once
/// Kinds of device for which a strategy class can be made, and device names.

#include <distribute/base/config.hpp>
#include <distribute/device/device_spec.hpp>

#include <string>
#include <vector>

namespace distribute {

/// Template arguments of the strategy classes, as in MirroredStrategy<CpuDevice>.
struct CpuDevice {};
struct GpuDevice {};
/// Stands for every visible GPU, or the CPU if there is no GPU.
struct DefaultDevice {};

/// Names that strategies accept: "/cpu:0", "CPU:0", "/device:CPU:0" and, for a task of a cluster,
/// "/job:worker/replica:0/task:1/device:CPU:0".
struct DeviceName {
  Device device;
  std::string job;  // empty: this process
  int task = -1;    // -1: not given
};

namespace strategy_internal {

/// Throws  InvalidArgumentError when the text is not a device name.
DeviceName parse_device_name(const std::string& text);

/// Returns the devices of one process in TensorFlow's short form.
/// Throws  InvalidArgumentError for an empty list, a device that occurs twice, local devices beside
///          those of a job, a job without a task, and a GPU that does not exist;
///          FailedPreconditionError for devices of several tasks.
std::vector<std::string> check_devices(const std::vector<std::string>& names);

/// Returns the devices of `strategy`, a class's name: the first `count` logical ones; 0 means all
/// of them. If `count` is larger than the number of GPUs, these are divided into logical ones,
/// unless one is in use. The default device is a GPU if there is one, else the CPU.
/// Throws  InvalidArgumentError for a negative number; FailedPreconditionError without a GPU.
std::vector<std::string> devices_of(CpuDevice, int count, const char* strategy = "the strategy");
std::vector<std::string> devices_of(GpuDevice, int count, const char* strategy = "the strategy");
std::vector<std::string> devices_of(DefaultDevice, int count,
                                    const char* strategy = "the strategy");

/// Logs once why the default device is a CPU, if a strategy has looked for GPUs in a build that can
/// use them. Only one task of a job logs it.
void tell_of_missing_gpus();

/// Returns the devices of these names that are GPUs.
std::vector<Device> gpus_among(const std::vector<std::string>& names);

/// Checks that the slots of replicas on these devices can be cut into slices.
/// Throws  UnimplementedError, which begins with the strategy's name, when one is a GPU.
void check_sharded_devices(const char* strategy, const std::vector<std::string>& names);

/// Returns whether these are several GPUs, no two of them parts of the same one, and NCCL is
/// available.
bool suits_nccl(const std::vector<Device>& devices);

}  // namespace strategy_internal

}  // namespace distribute
