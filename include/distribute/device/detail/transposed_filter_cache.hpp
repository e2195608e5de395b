#pragma once
/// Filters of convolutions as cuDNN reads them: those of a whole pass by one launch.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/layout.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace distribute::device_internal {

/// Float32 filters as a matrix, and the type that they are wanted in.
struct FilterMatrix {
  Array from;
  DType dtype;
  int64_t rows, columns;
};
/// Transposes such matrices of one GPU, each into an array of its own, by one launch.
using TransposeFilters = std::vector<Array>(std::span<const FilterMatrix> matrices);

/// The filters that the last passes on a GPU have asked for. When one of them is asked for again,
/// one launch transposes all that are alive, and the following calls take their results.
///
/// Invariants, whenever the mutex is free:
/// 1. An entry is ready exactly while it holds its filters' buffer; waiting_ counts these entries.
///    A value whose buffer is held has two holders, so that an update in place copies it first.
/// 2. What is ready was transposed in this pass, from values that nothing has written since. A
///    function that writes without asking for holders (an update of a GPU, the launch of a graph)
///    therefore calls end_pass() behind the write.
/// 3. While entries wait, they belong to one thread and one stream (owner_). Any other thread or
///    stream transposes its filters alone.
/// 4. Entries are only used on the GPU's compute stream and on streams that are captured, as memory
///    that is dropped there is not handed out before the work that reads it.
/// 5. An entry that neither this pass nor the one before it has asked for is dropped by end().
/// Thread-safe.
class TransposedFilterCache {
 public:
  explicit TransposedFilterCache(Device device) : device_(device) {}

  /// Filters [rows, columns] as [columns, rows].
  Array transposed(const FilterMatrix& filters, TransposeFilters* transpose);

  /// Drops what waits, and forgets filters that neither the last pass nor the one before it has
  /// asked for. The next call begins a pass.
  void end_pass();

  /// A graph is captured on `stream`: passes there are its own.
  void begin_capture(CudaStreamRef stream);
  /// Filters that the graph reads although the captured work did not ask for them: they have to
  /// live as long as it.
  std::vector<std::shared_ptr<Buffer>> end_capture(CudaStreamRef stream);
  /// A variable of the captured step has these values: the graph is launched while they are where
  /// they are, so it need not keep them, and others may write them in place.
  void let_go(const Array& values);

 private:
  struct Entry {
    FilterMatrix filters;               // `from` without its buffer
    std::weak_ptr<Buffer> buffer;       // an address may come again, a dead buffer does not
    int64_t pass;                       // the last one that has asked
    std::shared_ptr<Buffer> held = {};  // while `ready` waits
    Array ready = {};

    bool is_for(const FilterMatrix& wanted) const;
  };
  /// The thread and pass that ask for a filter.
  struct Owner {
    std::thread::id thread;
    CudaHandle stream = nullptr;
    bool operator==(const Owner&) const = default;
  };

  // With the mutex held:
  std::optional<Array> take_ready(const FilterMatrix& filters, CudaStreamRef stream,
                                  TransposeFilters* transpose);
  Entry* find(const FilterMatrix& filters);
  bool has_place_for(CudaStreamRef stream) const;
  void transpose_all(TransposeFilters* transpose);
  Array take(Entry& entry);
  void end();

  const Device device_;
  std::mutex mutex_;  // guards all below
  std::vector<Entry> entries_;
  Owner owner_;
  int64_t pass_ = 0;
  int64_t waiting_ = 0, asked_ = 0;  // entries, and calls of this pass
  int64_t known_ = 0;                // entries when it began
  std::map<CudaHandle, std::vector<std::shared_ptr<Buffer>>> captures_;  // what the graphs read
};

/// The cache of a GPU.
TransposedFilterCache& transposed_filter_cache(Device device);

/// While it lives, a graph is captured on the stream.
class [[nodiscard]] FilterCapture {
 public:
  explicit FilterCapture(CudaStreamRef stream);
  ~FilterCapture() { end(); }
  FilterCapture(const FilterCapture&) = delete;
  FilterCapture& operator=(const FilterCapture&) = delete;
  /// What end_capture() gives; nothing the second time.
  std::vector<std::shared_ptr<Buffer>> end();

 private:
  CudaStreamRef stream_;
};

}  // namespace distribute::device_internal
