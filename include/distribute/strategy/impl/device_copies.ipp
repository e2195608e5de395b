#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/tensor_places.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::shared_ptr<StagingMemory> staging_for(const std::vector<Device>& devices) {
  for (const Device device : devices)
    if (device.type == DeviceType::Gpu) return std::make_shared<StagingMemory>(device);
  return nullptr;
}

DISTRIBUTE_INLINE void check_not_recording(Device gpu) {
  if (current_stream(gpu).is_capturing())
    throw FailedPreconditionError(
        "a step whose variables are in another memory than its replicas cannot be recorded as a "
        "CUDA graph: the host has part in it");
}

DISTRIBUTE_INLINE void copy_in_parallel(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  parallel_for(bytes, kPiece, [=](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, size_t(end - begin));
  });
}

DISTRIBUTE_INLINE Tensor send_staged(const Tensor& plain, StagingBlock& staged, Device device) {
  check_not_recording(device);
  Tensor copy = Tensor::empty(plain.shape(), plain.dtype(), device);
  staged.send(0, bytes_of(plain), copy.array().bytes(), device);
  return copy;
}

DISTRIBUTE_INLINE std::shared_ptr<StagingBlock> staged(const Tensor& plain,
                                                       StagingMemory& staging) {
  auto block = staging.take(bytes_of(plain));
  copy_in_parallel(block->data(), plain.array().bytes(), bytes_of(plain));
  return block;
}

DISTRIBUTE_INLINE Tensor DeviceCopies::send(Device device, const Tensor& value) {
  const bool to_gpu = device.type == DeviceType::Gpu;
  if (value.device().type == DeviceType::Gpu || !to_gpu) return value.to(device);
  const Tensor plain = value.row_major();
  return send_staged(plain, *staged(plain, *staging_), device);
}

/// Makes a copy; all GPUs share one staged value.
DISTRIBUTE_INLINE Tensor DeviceCopies::make(Device device, const Tensor& value) {
  if (value.device().type == DeviceType::Gpu) return value.to(device);
  const Tensor plain = value.row_major();
  if (staged_of_ != value.id()) {
    staged_ = staged(plain, *staging_);
    staged_of_ = value.id();
  }
  return send_staged(plain, *staged_, device);
}

DISTRIBUTE_INLINE Tensor DeviceCopies::on(Device device, const Tensor& value) {
  if (device == value.device() || value.shape().rank() == 0) return value;
  if (device.type != DeviceType::Gpu) return on_host(value);
  const std::lock_guard lock(mutex_);
  Copy& copy = copies_[device.index];
  if (copy.of == value.id()) return copy.tensor;
  copy = {};  // its memory may become the new one's
  copy = {value.id(), make(device, value)};
  const bool all = std::all_of(copies_.begin(), copies_.end(),
                               [&](const auto& one) { return one.second.of == value.id(); });
  if (all) {
    staged_ = nullptr;
    staged_of_ = 0;
  }
  return copy.tensor;
}

DISTRIBUTE_INLINE Tensor read_here(DeviceCopies* copies, const Tensor& value) {
  return copies && get_replica_context() ? copies->on(current_device(), value) : value;
}

/// Copies dense tensors; those of GPUs are replaced by views of one block.
DISTRIBUTE_INLINE void fetch_dense(std::vector<Tensor>& tensors, StagingMemory& staging) {
  std::vector<Tensor*> wanted;
  int64_t bytes = 0;
  for (Tensor& tensor : tensors) {
    if (!tensor || !ops_internal::on_gpu(tensor)) continue;
    tensor = tensor.row_major();
    wanted.push_back(&tensor);
    bytes += line_aligned(bytes_of(tensor));
  }
  if (wanted.empty()) return;
  check_not_recording(wanted[0]->device());
  const std::shared_ptr<StagingBlock> block = staging.take(bytes);
  const auto memory = std::make_shared<Buffer>(block->data(), bytes, Device{}, [block] {});
  int64_t begin = 0;
  std::vector<Tensor> fetched;
  for (const Tensor* tensor : wanted) {
    block->fetch(tensor->array().bytes(), tensor->device(), begin, bytes_of(*tensor));
    fetched.emplace_back(tensor->shape(), tensor->dtype(), Array{memory, begin, nullptr});
    begin += line_aligned(bytes_of(*tensor));
  }
  block->synchronize();
  for (size_t i = 0; i < wanted.size(); ++i) *wanted[i] = std::move(fetched[i]);
}

DISTRIBUTE_INLINE std::vector<Tensor> to_host(std::vector<Tensor> tensors, StagingMemory& staging) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    const bool sparse = tensor && is_indexed_slices(tensor);
    parts.push_back(sparse ? indexed_slices(tensor).values : tensor);
    if (sparse) parts.push_back(indexed_slices(tensor).indices);
  }
  fetch_dense(parts, staging);
  size_t next = 0;
  for (Tensor& tensor : tensors) {
    if (tensor && is_indexed_slices(tensor)) {
      tensor = to_tensor({parts[next], parts[next + 1], tensor.shape()});
      next += 2;
    } else {
      tensor = parts[next++];
    }
  }
  return tensors;
}

DISTRIBUTE_INLINE std::vector<VariableUpdate> to_host(std::span<const VariableUpdate> updates,
                                                      StagingMemory* staging) {
  std::vector<VariableUpdate> result(updates.begin(), updates.end());
  if (!staging) return result;
  std::vector<Tensor> gradients;
  for (const VariableUpdate& update : result) gradients.push_back(update.gradient);
  gradients = to_host(std::move(gradients), *staging);
  for (size_t i = 0; i < result.size(); ++i) result[i].gradient = std::move(gradients[i]);
  return result;
}

}  // namespace distribute::strategy_internal
