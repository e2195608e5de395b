#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/nccl_transport.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/cuda_device.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE NcclTransport::NcclTransport(NcclCommunicator communicator,
                                               std::function<void()> stop)
    : communicator_(std::move(communicator)), stop_(std::move(stop)) {}

DISTRIBUTE_INLINE void NcclTransport::throw_if_aborted() {
  const std::lock_guard lock(mutex_);
  if (abort_code_ != StatusCode::Ok) throw_error(abort_code_, abort_message_);
}

DISTRIBUTE_INLINE void NcclTransport::abort(StatusCode code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (abort_code_ != StatusCode::Ok) return;
  abort_code_ = code;
  abort_message_ = message;
}

/// Operations that NCCL has no call for: parts of different sizes, and what goes from point to
/// point.
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

DISTRIBUTE_INLINE void NcclTransport::execute(const Operation& operation) {
  throw_if_aborted();
  const Device device = communicator_.device();
  const GpuGuard guard(device);
  const CudaStreamRef stream = communication_stream(device);
  stream.wait(current_stream(device));
  const Buffer token(operation.kind == Collective::Barrier ? 1 : 0, device);
  Operation whole = operation;
  if (operation.kind == Collective::Barrier) {  // a sum that nobody reads
    whole.kind = Collective::AllReduce;
    whole.count = 1;
    whole.input = whole.output = token.data();
  }
  try {
    enqueue(whole, stream);
    const auto stop = [&] {
      throw_if_aborted();
      if (stop_) stop_();
    };
    communicator_.wait_ready(operation.deadline, stop);
    const CudaEvent end(device);
    end.record(stream);
    while (!end.ref().is_done()) {
      communicator_.is_ready();
      stop();
      if (operation.deadline.passed())
        throw DeadlineExceededError(concat(to_string(signature_of(operation)), " over NCCL, rank ",
                                           rank(), " of ", size(), ": not done in time"));
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  } catch (...) {
    communicator_.abort();  // ends the kernels, which would wait for ever
    throw;
  }
}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    std::span<const Device> devices, net::Deadline deadline) {
  std::set<int> numbers;
  for (Device device : devices)
    if (!numbers.insert(gpu_info(device).number).second)
      throw InvalidArgumentError(concat("NCCL: ", to_string(device), " shares GPU ",
                                        gpu_info(device).number,
                                        " with another rank of the group, which NCCL refuses"));
  const NcclUniqueId id = make_nccl_id();
  std::vector<NcclCommunicator> communicators;
  {
    NcclGroup group;
    for (size_t r = 0; r < devices.size(); ++r)
      communicators.emplace_back(group, devices[r], int(r), int(devices.size()), id);
    group.end();
  }
  std::vector<std::unique_ptr<Transport>> transports;
  for (NcclCommunicator& communicator : communicators) {
    communicator.wait_ready(deadline);
    transports.push_back(std::make_unique<NcclTransport>(std::move(communicator)));
  }
  return transports;
}

/// One rank of a group of several processes, ready.
DISTRIBUTE_INLINE NcclCommunicator meet_over_nccl(
    Device device, int rank, int size, const std::function<void(const std::string&)>& publish,
    const std::function<std::string()>& fetch, net::Deadline deadline,
    const std::function<void()>& stop) {
  NcclUniqueId id;
  if (rank == 0) {
    id = make_nccl_id();
    publish(to_text(id));
  } else {
    id = nccl_id_from(fetch());
  }
  NcclGroup group;
  NcclCommunicator communicator(group, device, rank, size, id);
  group.end();
  communicator.wait_ready(deadline, stop);
  return communicator;
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_nccl_transport(
    Device device, int rank, int size, const std::function<void(const std::string&)>& publish,
    const std::function<std::string()>& fetch, net::Deadline deadline) {
  return std::make_unique<NcclTransport>(
      meet_over_nccl(device, rank, size, publish, fetch, deadline, {}));
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_nccl_transport(
    const std::shared_ptr<ClusterRuntime>& runtime, Device device, const std::string& name,
    net::Deadline deadline) {
  const std::string key = "nccl/" + name;
  const std::function<void()> stop = [runtime] { runtime->throw_if_lost(); };
  return std::make_unique<NcclTransport>(
      meet_over_nccl(
          device, runtime->rank(), runtime->size(),
          [&](const std::string& text) { runtime->set(key, text, deadline); },
          [&] { return runtime->get(key, deadline); }, deadline, stop),
      stop);
}

}  // namespace distribute::collective
