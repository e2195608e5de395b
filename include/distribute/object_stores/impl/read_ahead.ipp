#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/object_stores/detail/read_ahead.hpp>

#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace distribute::io_internal {

/// A piece of a file that a thread of its own fetches.
class FetchedBlock {
 public:
  FetchedBlock(const io::FetchRange& fetch, int64_t offset, int64_t size)
      : offset_(offset), size_(size), bytes_(std::make_unique_for_overwrite<char[]>(size_t(size))) {
    const auto fetch_it = [this, &fetch] {
      auto filled = fetch(offset_, {bytes_.get(), size_t(size_)});
      const std::lock_guard lock(mutex_);
      filled_ = std::move(filled);
      done_ = true;
      changed_.notify_all();
    };
    base_internal::start_helpers(threads_, 1, "reading ahead", fetch_it);
    if (threads_.empty()) fetch_it();
  }
  FetchedBlock(const FetchedBlock&) = delete;
  ~FetchedBlock() {
    for (std::thread& thread : threads_) thread.join();
  }

  bool holds(int64_t offset) const { return offset >= offset_ && offset < offset_ + size_; }
  int64_t end() const { return offset_ + size_; }
  bool done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// Waits, then copies the block's bytes from `offset` on; returns 0 when the file ends before.
  absl::StatusOr<size_t> copy(int64_t offset, std::span<char> out) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    if (!filled_.ok()) return filled_.status();
    const int64_t there = std::max<int64_t>(offset_ + *filled_ - offset, 0);
    const size_t count = std::min(out.size(), size_t(there));
    std::memcpy(out.data(), bytes_.get() + (offset - offset_), count);
    return count;
  }

 private:
  const int64_t offset_, size_;
  std::unique_ptr<char[]> bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;                            // guarded by mutex_
  absl::StatusOr<int64_t> filled_ = int64_t{0};  // guarded by mutex_
  std::vector<std::thread> threads_;             // one; none if the system has no more threads
};

class ReadAheadFile final : public io::RandomAccessFile {
 public:
  ReadAheadFile(std::string path, int64_t size, io::FetchRange fetch,
                const io::ReadAheadOptions& options)
      : path_(std::move(path)), size_(size), fetch_(std::move(fetch)), options_(options) {}

  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }
  DISTRIBUTE_INLINE absl::StatusOr<int64_t> read_some(int64_t offset,
                                                      std::span<char> out) const override;

 private:
  using Block = std::shared_ptr<FetchedBlock>;

  absl::StatusOr<int64_t> read_directly(int64_t offset, std::span<char> out) const;
  absl::StatusOr<int64_t> read_through_blocks(int64_t offset, std::span<char> out) const;
  Block block_at(int64_t offset) const;
  void forget() const;
  void add_block(int64_t offset) const;

  const std::string path_;
  const int64_t size_;
  const io::FetchRange fetch_;
  const io::ReadAheadOptions options_;
  // mutex_ guards all of these.
  mutable std::mutex mutex_;
  mutable std::deque<Block> window_;    // consecutive blocks without gaps
  mutable std::vector<Block> dropped_;  // still being fetched, but no longer wanted
  mutable int64_t next_bytes_ = 0;      // size of the next block
};

DISTRIBUTE_INLINE absl::StatusOr<int64_t> ReadAheadFile::read_some(int64_t offset,
                                                                   std::span<char> out) const {
  if (offset < 0 || offset >= size_) return 0;
  out = out.first(size_t(std::min<int64_t>(int64_t(out.size()), size_ - offset)));
  return int64_t(out.size()) >= options_.block_bytes ? read_directly(offset, out)
                                                     : read_through_blocks(offset, out);
}

/// Every thread takes the next piece until none is left.
DISTRIBUTE_INLINE absl::StatusOr<int64_t> ReadAheadFile::read_directly(int64_t offset,
                                                                       std::span<char> out) const {
  const int64_t total = int64_t(out.size());
  std::mutex mutex;
  int64_t next = 0, end = total;  // guarded by mutex, as is status
  absl::Status status;
  const auto take = [&](int64_t& start) {
    const std::lock_guard lock(mutex);
    start = std::exchange(next, next + options_.block_bytes);
    return start < end && status.ok();
  };
  const auto work = [&] {
    for (int64_t start; take(start);) {
      const int64_t size = std::min(options_.block_bytes, total - start);
      const auto count = fetch_(offset + start, out.subspan(size_t(start), size_t(size)));
      const std::lock_guard lock(mutex);
      if (!count.ok()) {
        status.Update(count.status());
      } else if (*count < size) {
        end = std::min(end, start + *count);
      }
    }
  };
  const int64_t pieces = (total + options_.block_bytes - 1) / options_.block_bytes;
  std::vector<std::thread> helpers;
  base_internal::start_helpers(helpers, int(std::min<int64_t>(options_.parallel, pieces)) - 1,
                               "reading ahead", work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (!status.ok()) return status;
  return end;
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> ReadAheadFile::read_through_blocks(
    int64_t offset, std::span<char> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const int64_t position = offset + int64_t(done);
    const auto count = block_at(position)->copy(position, out.subspan(done));
    if (!count.ok()) {
      forget();  // the next read fetches it again
      return count.status();
    }
    if (*count == 0) break;
    done += *count;
  }
  return int64_t(done);
}

DISTRIBUTE_INLINE void ReadAheadFile::forget() const {
  const std::lock_guard lock(mutex_);
  dropped_.insert(dropped_.end(), window_.begin(), window_.end());
  window_.clear();
}

/// Adds a block at the end of the window. Call it with mutex_ locked.
DISTRIBUTE_INLINE void ReadAheadFile::add_block(int64_t offset) const {
  const int64_t size = std::min(next_bytes_, size_ - offset);
  window_.push_back(std::make_shared<FetchedBlock>(fetch_, offset, size));
  next_bytes_ = std::min(2 * next_bytes_, options_.block_bytes);
}

/// Gives the block at `offset`; for a sequential reader the following blocks are being fetched,
/// too.
DISTRIBUTE_INLINE ReadAheadFile::Block ReadAheadFile::block_at(int64_t offset) const {
  const std::lock_guard lock(mutex_);
  std::erase_if(dropped_, [](const Block& block) { return block->done(); });
  const int64_t end = window_.empty() ? -1 : window_.back()->end();
  const bool inside = !window_.empty() && window_.front()->holds(offset);
  if (inside) return window_.front();
  const auto held = std::find_if(window_.begin(), window_.end(),
                                 [&](const Block& block) { return block->holds(offset); });
  const bool forward = held != window_.end() || offset == end;
  dropped_.insert(dropped_.end(), window_.begin(), held);
  window_.erase(window_.begin(), held);
  if (!forward || next_bytes_ == 0)
    next_bytes_ = std::min(options_.first_bytes, options_.block_bytes);
  if (window_.empty()) add_block(offset);
  while (forward && int(window_.size()) <= options_.parallel && window_.back()->end() < size_)
    add_block(window_.back()->end());
  return window_.front();
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::unique_ptr<RandomAccessFile> read_ahead_file(
    std::string path, int64_t size, FetchRange fetch, const ReadAheadOptions& options) {
  return std::make_unique<io_internal::ReadAheadFile>(std::move(path), size, std::move(fetch),
                                                      options);
}

}  // namespace distribute::io
