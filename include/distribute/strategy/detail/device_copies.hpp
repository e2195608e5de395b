#pragma once
/// Copies of variables' values on the devices of replicas, and transfer of gradients to the host.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace distribute::strategy_internal {

/// Returns page-locked memory for replicas on these devices; null if none of them is a GPU.
std::shared_ptr<StagingMemory> staging_for(const std::vector<Device>& devices);

/// One variable's value on the devices of its replicas. A copy is made when a device first reads
/// the value, and again only after the value has changed, which its tensor's id tells. A copy is
/// queued before the work that reads it, so the host does not wait. Thread-safe.
class DeviceCopies {
 public:
  explicit DeviceCopies(std::shared_ptr<StagingMemory> staging) : staging_(std::move(staging)) {}
  /// Returns `value` on `device`. A single number stays on its device.
  Tensor on(Device device, const Tensor& value);
  /// Returns a copy that is not shared.
  Tensor send(Device device, const Tensor& value);

 private:
  struct Copy {
    uint64_t of = 0;  // id of the value
    Tensor tensor = {};
  };
  Tensor make(Device device, const Tensor& value);

  const std::shared_ptr<StagingMemory> staging_;
  std::mutex mutex_;            // guards the rest
  std::map<int, Copy> copies_;  // by GPU
  // holds the value `staged_of_` as long as a GPU may read it
  std::shared_ptr<StagingBlock> staged_;
  uint64_t staged_of_ = 0;
};

/// Returns a variable's value to the calling thread: in a replica on the replica's device. `copies`
/// is null if no device is a GPU.
Tensor read_here(DeviceCopies* copies, const Tensor& value);

/// Copies the tensors that are on GPUs to the host: in one piece of page-locked memory, with one
/// wait for each GPU.
std::vector<Tensor> to_host(std::vector<Tensor> tensors, StagingMemory& staging);
/// Copies the gradients of updates to the host; sparse ones stay sparse. With `staging` null they
/// are on the host already.
std::vector<VariableUpdate> to_host(std::span<const VariableUpdate> updates,
                                    StagingMemory* staging);

}  // namespace distribute::strategy_internal
