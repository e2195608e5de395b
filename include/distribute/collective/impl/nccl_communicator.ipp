#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/collective/detail/nccl_communicator.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_graph.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

namespace distribute::collective {

namespace nccl_internal {

DISTRIBUTE_INLINE bool is_accepted(int result) {
  return result == kNcclSuccess || result == kNcclInProgress;
}

DISTRIBUTE_INLINE std::string words_of(int result, CudaHandle communicator) {
  const char* last = nccl().ncclGetLastError(communicator);
  return str_cat(nccl().ncclGetErrorString(result), last && *last ? ": " : "", last ? last : "");
}

/// Returns the ncclDataType_t; bool is sent as a byte.
DISTRIBUTE_INLINE int type_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return 7;
    case DType::BFloat16: return 9;
    case DType::Float16: return 6;
    case DType::Int32: return 2;
    case DType::Int64: return 4;
    default: return 1;
  }
}

/// Returns the ncclRedOp_t; "or" and "and" of bytes that are 0 or 1 are their maximum and minimum.
DISTRIBUTE_INLINE int op_of(ReductionOp op, DType dtype) {
  constexpr int kSum = 0, kProduct = 1, kMax = 2, kMin = 3, kMean = 4;
  if (dtype == DType::Bool) return op == ReductionOp::Sum || op == ReductionOp::Max ? kMax : kMin;
  switch (op) {
    case ReductionOp::Sum: return kSum;
    case ReductionOp::Mean: return kMean;
    case ReductionOp::Min: return kMin;
    case ReductionOp::Max: return kMax;
    case ReductionOp::Product: return kProduct;
  }
  return kSum;
}

/// The communicators that live. Never destroyed: some are static.
struct LivingCommunicators {
  LivingCommunicators() {
    std::atexit([] { abort_nccl_communicators(); });
  }
  std::mutex mutex;  // guards all
  std::set<NcclCommunicator*> all;
};
DISTRIBUTE_INLINE LivingCommunicators& living_communicators() {
  return in_process<LivingCommunicators>();
}
DISTRIBUTE_INLINE void note_life(NcclCommunicator* communicator, bool lives) {
  LivingCommunicators& living = living_communicators();
  const std::lock_guard lock(living.mutex);
  if (lives)
    living.all.insert(communicator);
  else
    living.all.erase(communicator);
}

}  // namespace nccl_internal

/// NCCL is loaded by then, so its own handlers of the exit run later.
DISTRIBUTE_INLINE void abort_nccl_communicators() noexcept {
  auto& living = nccl_internal::living_communicators();
  const std::lock_guard lock(living.mutex);
  for (NcclCommunicator* communicator : living.all) communicator->abort();
}

DISTRIBUTE_INLINE NcclUniqueId make_nccl_id() {
  NcclUniqueId id;
  const int result = nccl().ncclGetUniqueId(&id);
  if (result != kNcclSuccess)
    throw InternalError("ncclGetUniqueId: " + nccl_internal::words_of(result, nullptr));
  return id;
}

DISTRIBUTE_INLINE std::string to_text(const NcclUniqueId& id) {
  std::string text;
  for (char byte : id.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

DISTRIBUTE_INLINE NcclUniqueId nccl_id_from(const std::string& text) {
  NcclUniqueId id;
  const bool fits = text.size() == 2 * sizeof id.bytes;
  if (!fits || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw InvalidArgumentError(
        str_cat("an NCCL id is ", 2 * sizeof id.bytes, " hexadecimal digits, got '", text, "'"));
  for (size_t i = 0; i < sizeof id.bytes; ++i)
    id.bytes[i] = char(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

DISTRIBUTE_INLINE NcclGroup::NcclGroup() {
  const int result = nccl().ncclGroupStart();
  if (result != kNcclSuccess)
    throw InternalError("ncclGroupStart: " + nccl_internal::words_of(result, nullptr));
}
DISTRIBUTE_INLINE NcclGroup::~NcclGroup() {
  if (open_) nccl().ncclGroupEnd();
}
DISTRIBUTE_INLINE void NcclGroup::end() {
  open_ = false;
  const int result = nccl().ncclGroupEnd();
  if (!nccl_internal::is_accepted(result))
    throw InternalError("ncclGroupEnd: " + nccl_internal::words_of(result, nullptr));
}

DISTRIBUTE_INLINE void NcclCommunicator::check(int result, const char* call) const {
  if (nccl_internal::is_accepted(result)) return;
  throw InternalError(str_cat(call, " of rank ", rank_, " of ", size_, " on ", to_string(device_),
                              ": ", nccl_internal::words_of(result, native_)));
}

DISTRIBUTE_INLINE NcclCommunicator::NcclCommunicator(NcclGroup&, Device device, int rank, int size,
                                                     const NcclUniqueId& id)
    : device_(device), rank_(rank), size_(size) {
  NcclConfig config;
  CudaHandle native = nullptr;
  const GpuGuard guard(device);
  const int result = nccl().ncclCommInitRankConfig(&native, size, id, rank, &config);
  native_ = native;
  check(result, "ncclCommInitRankConfig");
  nccl_internal::note_life(this, true);
}

DISTRIBUTE_INLINE NcclCommunicator::NcclCommunicator(NcclCommunicator&& other) noexcept
    : device_(other.device_), rank_(other.rank_), size_(other.size_) {
  nccl_internal::note_life(&other, false);
  native_ = other.native_.exchange(nullptr);
  std::swap(state_, other.state_);
  nccl_internal::note_life(this, true);
}

/// Aborts, as ncclCommDestroy waits for the other ranks, which may be lost.
DISTRIBUTE_INLINE NcclCommunicator::~NcclCommunicator() {
  nccl_internal::note_life(this, false);
  abort();
}

DISTRIBUTE_INLINE void NcclCommunicator::abort() noexcept {
  const auto [native, graphs] = [&] {
    const std::lock_guard lock(state_->mutex);
    return std::pair(native_.exchange(nullptr), std::exchange(state_->graphs, {}));
  }();
  if (!native) return;
  for (const auto& graph : graphs)
    if (const auto life = graph.lock()) life->drop();
  const int result = nccl().ncclCommAbort(native);
  if (!nccl_internal::is_accepted(result))
    log_warning("collective", str_cat("ncclCommAbort failed with ", result));
}

DISTRIBUTE_INLINE void NcclCommunicator::record_in(const std::shared_ptr<CudaGraphLife>& graph) {
  const std::lock_guard lock(state_->mutex);
  auto& graphs = state_->graphs;
  std::erase_if(graphs, [&](const auto& other) {
    const auto life = other.lock();
    return !life || life == graph;
  });
  graphs.push_back(graph);
}

DISTRIBUTE_INLINE bool NcclCommunicator::is_recorded() const {
  const std::lock_guard lock(state_->mutex);
  return std::any_of(state_->graphs.begin(), state_->graphs.end(),
                     [](const auto& graph) { return !graph.expired(); });
}

DISTRIBUTE_INLINE bool NcclCommunicator::is_ready() const {
  const std::lock_guard lock(state_->mutex);  // an abort does not free the handle meanwhile
  const CudaHandle native = native_;
  if (!native) throw UnavailableError("the NCCL group was aborted");
  int state = kNcclSuccess;
  check(nccl().ncclCommGetAsyncError(native, &state), "ncclCommGetAsyncError");
  if (state == kNcclInProgress) return false;
  if (state == kNcclSuccess) return true;
  throw UnavailableError(str_cat("NCCL, rank ", rank_, " of ", size_, " on ", to_string(device_),
                                 ": ", nccl_internal::words_of(state, native),
                                 "; NCCL_DEBUG=WARN tells more"));
}

DISTRIBUTE_INLINE void NcclCommunicator::wait_ready(net::Deadline deadline,
                                                    const std::function<void()>& stop) const {
  while (!is_ready()) {
    if (stop) stop();
    if (deadline.passed())
      throw DeadlineExceededError(str_cat("NCCL, rank ", rank_, " of ", size_, " on ",
                                          to_string(device_),
                                          ": other ranks did not come in time"));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

DISTRIBUTE_INLINE void NcclCommunicator::all_reduce(NcclGroup&, const void* input, void* output,
                                                    int64_t count, DType dtype, ReductionOp op,
                                                    CudaStreamRef stream) const {
  check(nccl().ncclAllReduce(input, output, size_t(count), nccl_internal::type_of(dtype),
                             nccl_internal::op_of(op, dtype), native_, stream.native()),
        "ncclAllReduce");
}
DISTRIBUTE_INLINE void NcclCommunicator::reduce(NcclGroup&, const void* input, void* output,
                                                int64_t count, DType dtype, ReductionOp op,
                                                int root, CudaStreamRef stream) const {
  check(nccl().ncclReduce(input, output, size_t(count), nccl_internal::type_of(dtype),
                          nccl_internal::op_of(op, dtype), root, native_, stream.native()),
        "ncclReduce");
}
DISTRIBUTE_INLINE void NcclCommunicator::reduce_scatter(NcclGroup&, const void* input, void* output,
                                                        int64_t count_each, DType dtype,
                                                        ReductionOp op,
                                                        CudaStreamRef stream) const {
  check(nccl().ncclReduceScatter(input, output, size_t(count_each), nccl_internal::type_of(dtype),
                                 nccl_internal::op_of(op, dtype), native_, stream.native()),
        "ncclReduceScatter");
}
DISTRIBUTE_INLINE void NcclCommunicator::all_gather(NcclGroup&, const void* input, void* output,
                                                    int64_t count_each, DType dtype,
                                                    CudaStreamRef stream) const {
  check(nccl().ncclAllGather(input, output, size_t(count_each), nccl_internal::type_of(dtype),
                             native_, stream.native()),
        "ncclAllGather");
}
DISTRIBUTE_INLINE void NcclCommunicator::broadcast(NcclGroup&, const void* input, void* output,
                                                   int64_t count, DType dtype, int root,
                                                   CudaStreamRef stream) const {
  check(nccl().ncclBroadcast(input, output, size_t(count), nccl_internal::type_of(dtype), root,
                             native_, stream.native()),
        "ncclBroadcast");
}
DISTRIBUTE_INLINE void NcclCommunicator::send(NcclGroup&, const void* data, int64_t count,
                                              DType dtype, int to, CudaStreamRef stream) const {
  check(nccl().ncclSend(data, size_t(count), nccl_internal::type_of(dtype), to, native_,
                        stream.native()),
        "ncclSend");
}
DISTRIBUTE_INLINE void NcclCommunicator::receive(NcclGroup&, void* data, int64_t count, DType dtype,
                                                 int from, CudaStreamRef stream) const {
  check(nccl().ncclRecv(data, size_t(count), nccl_internal::type_of(dtype), from, native_,
                        stream.native()),
        "ncclRecv");
}

}  // namespace distribute::collective
