#pragma once
/// The kinds of device a strategy class can be made for, and device names.

#include <distribute/base/config.hpp>
#include <distribute/device/device_spec.hpp>

#include <string>
#include <vector>

namespace distribute {

/// Template arguments of the strategy classes, as in MirroredStrategy<CpuDevice>.
struct CpuDevice {};
struct GpuDevice {};
/// Every visible GPU, or the CPU when there is none.
struct DefaultDevice {};

/// Names that strategies accept: "/cpu:0", "CPU:0", "/device:CPU:0" and, for a task of a cluster,
/// "/job:worker/replica:0/task:1/device:CPU:0".
struct DeviceName {
  Device device;
  std::string job;  // empty: this process
  int task = -1;    // -1: not given
};

namespace strategy_internal {

/// Throws  InvalidArgumentError when the text is no device name.
DeviceName parse_device_name(const std::string& text);

/// The devices of one process in TensorFlow's short form.
/// Throws  InvalidArgumentError when empty, twice the same, local and of a job, without a task, or
///         a GPU that does not exist;
///         FailedPreconditionError for devices of several tasks.
std::vector<std::string> check_devices(const std::vector<std::string>& names);

/// The devices of `strategy`, a class's name: the first `count` logical ones; 0 means all of them.
/// More than there are GPUs divides those, while none is in use. The default device is a GPU where
/// there is one, else the CPU.
/// Throws  InvalidArgumentError for a negative number; FailedPreconditionError without a GPU.
std::vector<std::string> devices_of(CpuDevice, int count, const char* strategy = "the strategy");
std::vector<std::string> devices_of(GpuDevice, int count, const char* strategy = "the strategy");
std::vector<std::string> devices_of(DefaultDevice, int count,
                                    const char* strategy = "the strategy");

/// Logs once why a default device was a CPU, where a strategy has looked for GPUs in a build that
/// can use them. Only one task of a job says so.
void tell_of_missing_gpus();

/// The devices of these names that are GPUs.
std::vector<Device> gpus_among(const std::vector<std::string>& names);

/// True for several GPUs, no two of which are parts of one, where NCCL is there.
bool suits_nccl(const std::vector<Device>& devices);

}  // namespace strategy_internal

}  // namespace distribute
