#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/prepared_values.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

namespace distribute::device_internal {

/// An array that is being made or is finished. Thread-safe.
class PreparedArray {
 public:
  PreparedArray(int64_t bytes, int64_t pieces, Device device)
      : result_(make_array(bytes, device)), pieces_(pieces) {}

  /// Computes pieces until none is left, then waits for those of other threads. Those threads are
  /// already at work and do not wait for others.
  const Array& finish(const Preparation& preparation) {
    if (done_.load(std::memory_order_acquire) == pieces_) return result_;
    parallel_for(intra_op_threads(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) work(preparation);
    });
    for (int64_t done; (done = done_.load(std::memory_order_acquire)) < pieces_;) done_.wait(done);
    return result_;
  }

 private:
  void work(const Preparation& preparation) {
    int64_t made = 0;
    for (int64_t piece; (piece = next_.fetch_add(1)) < pieces_; ++made)
      preparation.make(result_.bytes(), piece);
    if (made == 0) return;
    if (done_.fetch_add(made, std::memory_order_acq_rel) + made == pieces_) done_.notify_all();
  }

  const Array result_;
  const int64_t pieces_;
  std::atomic<int64_t> next_ = 0, done_ = 0;
};

/// All arrays that were made from one buffer's elements.
struct KeptBuffer {
  using Key = std::tuple<int64_t, std::string, int64_t, int64_t>;  // offset, name, sizes
  std::weak_ptr<Buffer> buffer;  // an address may come again, a dead buffer does not
  std::map<Key, std::shared_ptr<PreparedArray>> arrays;
};

/// The kept buffers. Thread-safe. The table is never destroyed, as buffers may outlive main().
struct PreparedTable {
  std::mutex mutex;  // guards everything below
  std::unordered_map<const Buffer*, KeptBuffer> kept;
  size_t size_to_sweep = 64;

  /// Drops dead buffers when they may be as many as the live ones.
  void sweep() {
    if (kept.size() < size_to_sweep) return;
    std::erase_if(kept, [](const auto& entry) { return entry.second.buffer.expired(); });
    size_to_sweep = std::max<size_t>(2 * kept.size(), 64);
  }
};

DISTRIBUTE_INLINE PreparedTable& prepared_table() { return in_process<PreparedTable>(); }

DISTRIBUTE_INLINE void keep_prepared(const Array& elements) {
  PreparedTable& table = prepared_table();
  const std::lock_guard lock(table.mutex);
  KeptBuffer& entry = table.kept[elements.buffer.get()];
  if (entry.buffer.lock() == elements.buffer) return;
  entry = {elements.buffer, {}};
  table.sweep();
}

DISTRIBUTE_INLINE void forget_prepared(const Array& elements) {
  PreparedTable& table = prepared_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.kept.find(elements.buffer.get());
  if (found != table.kept.end()) found->second.arrays.clear();
}

/// Gives the array of kept elements, which the first asking thread begins; null when they are not
/// kept.
DISTRIBUTE_INLINE std::shared_ptr<PreparedArray> find_prepared(const Array& elements,
                                                               const Preparation& p) {
  PreparedTable& table = prepared_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.kept.find(elements.buffer.get());
  if (found == table.kept.end() || found->second.buffer.lock() != elements.buffer) return nullptr;
  auto& array = found->second.arrays[{elements.offset_bytes, p.name, p.sizes[0], p.sizes[1]}];
  if (!array) {
    const BufferOffers none({});  // kept memory must not come from an offer
    array = std::make_shared<PreparedArray>(p.bytes, p.pieces, elements.buffer->device());
  }
  return array;
}

DISTRIBUTE_INLINE Array prepared(const Array& elements, const Preparation& preparation) {
  if (const auto array = find_prepared(elements, preparation)) return array->finish(preparation);
  Array result = make_array(preparation.bytes, elements.buffer->device());
  parallel_for(preparation.pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) preparation.make(result.bytes(), piece);
  });
  return result;
}

}  // namespace distribute::device_internal
