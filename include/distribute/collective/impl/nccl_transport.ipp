#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_device.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE NcclTransport::NcclTransport(NcclCommunicator communicator,
                                               std::function<void()> stop)
    : communicator_(std::move(communicator)), stop_(std::move(stop)) {}

DISTRIBUTE_INLINE void NcclTransport::abort(StatusCode code, const std::string& message) {
  aborted_.set(code, message);
  { const std::lock_guard lock(calls_); }  // none comes from now on
  if (communicator_.is_recorded()) communicator_.abort();
}

DISTRIBUTE_INLINE void NcclTransport::record(const Operation& operation,
                                             const std::shared_ptr<CudaGraphLife>& graph) {
  aborted_.throw_if_set();
  const Device device = communicator_.device();
  const GpuGuard guard(device);
  if (!beside_) beside_ = std::make_unique<CudaStream>(device, StreamPriority::High);
  beside_->ref().wait(current_stream(device));
  communicator_.record_in(graph);
  try {
    enqueue(operation, *beside_);
    communicator_.wait_ready(operation.deadline, [&] { aborted_.throw_if_set(); });
  } catch (...) {
    communicator_.abort();
    throw;
  }
}

DISTRIBUTE_INLINE void NcclTransport::join_recorded() {
  if (beside_) current_stream(communicator_.device()).wait(*beside_);
}

/// Runs operations for which NCCL has no call: parts of different sizes, and point-to-point
/// operations.
DISTRIBUTE_INLINE void NcclTransport::enqueue_parts(const Operation& o, NcclGroup& group,
                                                    CudaStreamRef stream) {
  const int64_t bytes = size_of(o.dtype);
  const auto* in = static_cast<const char*>(o.input);
  auto* out = static_cast<char*>(o.output);
  int64_t offset = 0;
  for (int r = 0; r < size(); ++r) {
    const int64_t count = o.counts.empty() ? o.count : o.counts[size_t(r)];
    char* const at = out ? out + offset * bytes : nullptr;
    if (count == 0) continue;
    if (o.kind == Collective::ReduceScatter)
      communicator_.reduce(group, in + offset * bytes, out, count, o.dtype, o.op, r, stream);
    if (o.kind == Collective::AllGather)
      communicator_.broadcast(group, r == rank() ? in : at, at, count, o.dtype, r, stream);
    if (o.kind == Collective::AllToAll)
      communicator_.send(group, in + offset * bytes, count, o.dtype, r, stream);
    if (o.kind == Collective::AllToAll || (o.kind == Collective::Gather && rank() == o.peer))
      communicator_.receive(group, at, count, o.dtype, r, stream);
    if (o.kind == Collective::Gather && r == rank())
      communicator_.send(group, in, count, o.dtype, o.peer, stream);
    offset += count;
  }
}

DISTRIBUTE_INLINE void NcclTransport::enqueue(const Operation& o, CudaStreamRef stream) {
  const NcclCommunicator& c = communicator_;
  const bool even =
      std::adjacent_find(o.counts.begin(), o.counts.end(), std::not_equal_to<>()) == o.counts.end();
  const int64_t each = o.counts.empty() ? 0 : o.counts[0];
  const std::lock_guard lock(calls_);
  aborted_.throw_if_set();
  NcclGroup group;
  switch (o.kind) {
    case Collective::AllReduce:
      c.all_reduce(group, o.input, o.output, o.count, o.dtype, o.op, stream);
      break;
    case Collective::Reduce:
      c.reduce(group, o.input, o.output, o.count, o.dtype, o.op, o.peer, stream);
      break;
    case Collective::Broadcast:
      c.broadcast(group, o.output, o.output, o.count, o.dtype, o.peer, stream);
      break;
    case Collective::Send: c.send(group, o.input, o.count, o.dtype, o.peer, stream); break;
    case Collective::Receive: c.receive(group, o.output, o.count, o.dtype, o.peer, stream); break;
    case Collective::ReduceScatter:
      if (even) {
        c.reduce_scatter(group, o.input, o.output, each, o.dtype, o.op, stream);
        break;
      }
      [[fallthrough]];
    case Collective::AllGather:
      if (even && o.kind == Collective::AllGather) {
        c.all_gather(group, o.input, o.output, each, o.dtype, stream);
        break;
      }
      [[fallthrough]];
    default: enqueue_parts(o, group, stream);
  }
  group.end();
}

DISTRIBUTE_INLINE void NcclTransport::announce(const Operation& operation) {
  const Device device = communicator_.device();
  CudaEvent event(device);
  event.record(current_stream(device));
  const std::lock_guard lock(mutex_);
  announced_.emplace(operation.sequence, std::move(event));
}

/// Waits for the work that was queued before the operation was requested, and not for later work.
DISTRIBUTE_INLINE void NcclTransport::wait_for_input(const Operation& operation,
                                                     CudaStreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto event = announced_.find(operation.sequence);
  if (event == announced_.end()) return stream.wait(current_stream(stream.device()));
  stream.wait(event->second);
  announced_.erase(event);
}

/// Kernels of an aborted group end by themselves, but not at once, and the next work on the GPU may
/// get the memory that they use.
DISTRIBUTE_INLINE void wait_for_aborted(CudaStreamRef stream) noexcept {
  try {
    current_stream(stream.device()).wait(stream);
  } catch (const Error& error) {
    log_warning("collective", error.what());
  }
}

DISTRIBUTE_INLINE void NcclTransport::execute(const Operation& operation) {
  aborted_.throw_if_set();
  const Device device = communicator_.device();
  const GpuGuard guard(device);
  const CudaStreamRef stream = communication_stream(device);
  const Buffer token(operation.kind == Collective::Barrier ? 1 : 0, device);
  wait_for_input(operation, stream);  // and for earlier users of the token's memory
  Operation whole = operation;
  if (operation.kind == Collective::Barrier) {  // a sum that is not read
    whole.kind = Collective::AllReduce;
    whole.count = 1;
    whole.input = whole.output = token.data();
  }
  try {
    enqueue(whole, stream);
    const auto begun = net::Deadline::Clock::now();
    const auto stop = [&] {
      aborted_.throw_if_set();
      if (departures_.any()) departures_.throw_if_any_silent(begun, rank(), operation);
      if (stop_) stop_();
    };
    communicator_.wait_ready(operation.deadline, stop);
    const CudaEvent end(device);
    end.record(stream);
    while (!end.ref().is_done()) {
      stop();
      communicator_.is_ready();
      if (operation.deadline.passed())
        throw DeadlineExceededError(str_cat(to_string(signature_of(operation)), " over NCCL, rank ",
                                            rank(), " of ", size(), ": not done in time"));
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  } catch (...) {
    communicator_.abort();  // ends the kernels, which would wait for ever
    wait_for_aborted(stream);
    throw;
  }
}

/// Transports of ranks `first`, `first` + 1, ... of a group, on this process's devices.
DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> meet_over_nccl(
    std::span<const Device> devices, int first, int size, const NcclUniqueId& id,
    net::Deadline deadline, const std::function<void()>& stop) {
  std::vector<NcclCommunicator> communicators;
  NcclGroup group;
  for (size_t i = 0; i < devices.size(); ++i)
    communicators.emplace_back(group, devices[i], first + int(i), size, id);
  {
    const GpuGuard guard(devices[0]);  // NCCL works on the thread's GPU here, too
    group.end();
  }
  std::vector<std::unique_ptr<Transport>> transports;
  for (NcclCommunicator& communicator : communicators) {
    communicator.wait_ready(deadline, stop);
    transports.push_back(std::make_unique<NcclTransport>(std::move(communicator), stop));
  }
  return transports;
}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    std::span<const Device> devices, net::Deadline deadline) {
  std::set<int> numbers;
  for (Device device : devices)
    if (!numbers.insert(gpu_info(device).number).second)
      throw InvalidArgumentError(str_cat("NCCL: ", to_string(device), " shares GPU ",
                                         gpu_info(device).number,
                                         " with another rank of the group, which NCCL refuses"));
  return meet_over_nccl(devices, 0, int(devices.size()), make_nccl_id(), deadline);
}

DISTRIBUTE_INLINE NcclUniqueId share_nccl_id(bool makes,
                                             const std::function<void(const std::string&)>& publish,
                                             const std::function<std::string()>& fetch) {
  if (!makes) return nccl_id_from(fetch());
  const NcclUniqueId id = make_nccl_id();
  publish(to_text(id));
  return id;
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_nccl_transport(
    Device device, int rank, int size, const std::function<void(const std::string&)>& publish,
    const std::function<std::string()>& fetch, net::Deadline deadline) {
  const NcclUniqueId id = share_nccl_id(rank == 0, publish, fetch);
  return std::move(meet_over_nccl(std::span(&device, 1), rank, size, id, deadline)[0]);
}

}  // namespace distribute::collective
