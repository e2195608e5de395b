#pragma once
/// Values of variables that lie elsewhere than their replicas compute, and gradients on the way
/// back.

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

/// Page-locked memory for replicas on these devices; null where none of them is a GPU.
std::shared_ptr<StagingMemory> staging_for(const std::vector<Device>& devices);

/// One variable's value on the devices of its replicas, copied to each when it is first read there
/// and again only after it has changed, as tensors tell by their id. A copy is queued before the
/// work that reads it; the host waits for none. Thread-safe.
class DeviceCopies {
 public:
  explicit DeviceCopies(std::shared_ptr<StagingMemory> staging) : staging_(std::move(staging)) {}
  /// Gives `value` on `device`. A single number stays where it is.
  Tensor on(Device device, const Tensor& value);
  /// A copy that is not shared.
  Tensor send(Device device, const Tensor& value);

 private:
  struct Copy {
    uint64_t of = 0;  // id of the value
    Tensor tensor = {};
  };
  Tensor make(Device device, const Tensor& value);

  const std::shared_ptr<StagingMemory> staging_;
  std::mutex mutex_;                      // guards the rest
  std::map<int, Copy> copies_;            // by GPU
  std::shared_ptr<StagingBlock> staged_;  // the value `staged_of_`, as long as a GPU may want it
  uint64_t staged_of_ = 0;
};

/// What a variable answers to the calling thread: in a replica its value on the replica's device.
/// `copies` null: no device is a GPU.
Tensor read_here(DeviceCopies* copies, const Tensor& value);

/// The tensors with those of GPUs brought to the host: in one piece of page-locked memory, with one
/// wait for each GPU.
std::vector<Tensor> to_host(std::vector<Tensor> tensors, StagingMemory& staging);
/// The same for gradients; sparse ones stay sparse. `staging` null: they are there already.
std::vector<VariableUpdate> to_host(std::span<const VariableUpdate> updates,
                                    StagingMemory* staging);

}  // namespace distribute::strategy_internal
