#pragma once
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <utility>

namespace distribute::device_internal {

DISTRIBUTE_INLINE bool TransposedFilterCache::Entry::is_for(const FilterMatrix& wanted) const {
  const std::shared_ptr<Buffer>& other = wanted.from.buffer;
  return !buffer.owner_before(other) && !other.owner_before(buffer) &&
         filters.from.offset_bytes == wanted.from.offset_bytes && filters.dtype == wanted.dtype &&
         filters.rows == wanted.rows && filters.columns == wanted.columns;
}

DISTRIBUTE_INLINE TransposedFilterCache::Entry* TransposedFilterCache::find(
    const FilterMatrix& filters) {
  for (Entry& entry : entries_)
    if (entry.is_for(filters)) return &entry;
  return nullptr;
}

/// On other streams the memory of dropped results might still be written when the cache reuses it.
DISTRIBUTE_INLINE bool TransposedFilterCache::has_place_for(CudaStreamRef stream) const {
  return stream.native() == gpu_lane(device_).compute || captures_.contains(stream.native());
}

DISTRIBUTE_INLINE Array TransposedFilterCache::transposed(const FilterMatrix& filters,
                                                          TransposeFilters* transpose) {
  const CudaStreamRef stream = current_stream(device_);
  {
    const std::lock_guard lock(mutex_);
    if (std::optional<Array> ready = take_ready(filters, stream, transpose))
      return *std::move(ready);
  }
  return transpose(std::span(&filters, 1))[0];
}

/// The result is empty when the caller must transpose its filters alone.
DISTRIBUTE_INLINE std::optional<Array> TransposedFilterCache::take_ready(
    const FilterMatrix& filters, CudaStreamRef stream, TransposeFilters* transpose) {
  if (!has_place_for(stream)) return std::nullopt;
  // A pass is over if it leaves most of the waiting filters unused, or asks for some of them many
  // times.
  if (asked_ > 2 * known_ + 64) end();
  ++asked_;
  const Owner asker{std::this_thread::get_id(), stream.native()};
  if (waiting_ > 0 && asker != owner_) return std::nullopt;
  owner_ = asker;
  Entry* entry = find(filters);
  if (!entry) {
    entries_.push_back({filters, filters.from.buffer, pass_});
    entries_.back().filters.from.buffer = nullptr;
    return std::nullopt;
  }
  entry->pass = pass_;
  if (!entry->ready.buffer) {
    if (waiting_ > 0 || entries_.size() == 1) return std::nullopt;  // taken already
    transpose_all(transpose);
    entry = find(filters);
    entry->pass = pass_;
  }
  return take(*entry);
}

DISTRIBUTE_INLINE Array TransposedFilterCache::take(Entry& entry) {
  --waiting_;
  entry.held = nullptr;
  return std::exchange(entry.ready, {});
}

DISTRIBUTE_INLINE void TransposedFilterCache::transpose_all(TransposeFilters* transpose) {
  if (asked_ > 1) {  // this call begins a new pass
    end();
    asked_ = 1;
  }
  std::vector<Entry*> alive;
  std::vector<FilterMatrix> matrices;
  for (Entry& entry : entries_) {
    FilterMatrix& matrix = matrices.emplace_back(entry.filters);
    matrix.from.buffer = entry.buffer.lock();
    if (matrix.from.buffer)
      alive.push_back(&entry);
    else
      matrices.pop_back();
  }
  std::vector<Array> results = transpose(matrices);
  for (size_t i = 0; i < alive.size(); ++i) {
    alive[i]->held = std::move(matrices[i].from.buffer);
    alive[i]->ready = std::move(results[i]);
  }
  waiting_ = int64_t(alive.size());
}

DISTRIBUTE_INLINE void TransposedFilterCache::end() {
  if (asked_ == 0 && waiting_ == 0) return;
  const auto capture = captures_.find(owner_.stream);
  for (Entry& entry : entries_) {
    if (entry.held && capture != captures_.end()) capture->second.push_back(std::move(entry.held));
    entry.held = nullptr;
    entry.ready = {};
  }
  std::erase_if(entries_, [this](const Entry& entry) {
    return entry.buffer.expired() || entry.pass + 1 < pass_;
  });
  ++pass_;
  waiting_ = asked_ = 0;
  known_ = int64_t(entries_.size());
}

DISTRIBUTE_INLINE void TransposedFilterCache::end_pass() {
  const std::lock_guard lock(mutex_);
  end();
}

DISTRIBUTE_INLINE void TransposedFilterCache::begin_capture(CudaStreamRef stream) {
  const std::lock_guard lock(mutex_);
  end();
  captures_[stream.native()];
}

DISTRIBUTE_INLINE std::vector<std::shared_ptr<Buffer>> TransposedFilterCache::end_capture(
    CudaStreamRef stream) {
  const std::lock_guard lock(mutex_);
  end();
  auto read = captures_.extract(stream.native());
  return read ? std::move(read.mapped()) : std::vector<std::shared_ptr<Buffer>>();
}

DISTRIBUTE_INLINE void TransposedFilterCache::let_go(const Array& values) {
  const CudaHandle stream = current_stream(device_).native();
  const std::lock_guard lock(mutex_);
  end();
  if (const auto capture = captures_.find(stream); capture != captures_.end())
    std::erase(capture->second, values.buffer);
}

DISTRIBUTE_INLINE TransposedFilterCache& transposed_filter_cache(Device device) {
  GpuLane& lane = gpu_lane(device);
  const std::lock_guard lock(lane.mutex);
  if (!lane.filters) lane.filters = std::make_shared<TransposedFilterCache>(device);
  return *lane.filters;
}

DISTRIBUTE_INLINE FilterCapture::FilterCapture(CudaStreamRef stream) : stream_(stream) {
  transposed_filter_cache(stream.device()).begin_capture(stream);
}
DISTRIBUTE_INLINE std::vector<std::shared_ptr<Buffer>> FilterCapture::end() {
  return transposed_filter_cache(stream_.device()).end_capture(stream_);
}

}  // namespace distribute::device_internal
