#pragma once
/// One variable on its server: its elements, their version, and their current readers.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/replica/detail/update_kernel.hpp>
#include <distribute/tensor/tensor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Largest part of one message, and the smallest that a reader sees as a whole.
inline constexpr int64_t kPieceBytes = int64_t{4} << 20;
/// Larger variables exist once, without snapshots.
inline constexpr int64_t kSnapshotBytes = int64_t{256} << 20;

/// Memory of all elements. A block with readers is not written.
struct Block {
  std::byte* data = nullptr;
  int64_t offset = -1;  // in the arena; -1: elsewhere
  std::unique_ptr<Buffer> heap = {};
  std::atomic<int> pins{0};  // readers
};

/// Keeps a block from being written while it lives. Move-only; empty by default.
class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(std::shared_ptr<Block> block, uint64_t version)
      : block_(std::move(block)), version_(version) {}
  Snapshot(Snapshot&& other) noexcept = default;
  Snapshot& operator=(Snapshot&& other) noexcept {
    std::swap(block_, other.block_);
    version_ = other.version_;
    return *this;
  }
  ~Snapshot() {
    if (block_) block_->pins.fetch_sub(1, std::memory_order_release);
  }
  const std::byte* data() const { return block_->data; }
  int64_t offset() const { return block_->offset; }
  uint64_t version() const { return version_; }

 private:
  std::shared_ptr<Block> block_;
  uint64_t version_ = 0;
};

/// A variable on its server. Thread-safe.
/// 1. Readers take snapshots: an update that finds readers writes to another block, which later
///    readers see (copy on write), so no reader waits or sees half an update.
/// 2. Large variables and those with sparse updates are written in place instead, under a lock: a
///    reader sees each piece of 4 MiB, or each row of a sparse update, as a whole.
/// 3. A variable that has turned to updates in place never returns to snapshots.
class StoredVariable {
 public:
  /// `arena` may be null. Contents are undefined except in arenas, whose fresh memory is zero.
  StoredVariable(std::string key, Shape shape, DType dtype, std::shared_ptr<SharedArena> arena);
  StoredVariable(const StoredVariable&) = delete;

  const std::string& key() const { return key_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t bytes() const { return bytes_; }
  /// Returns the bytes of one row of the first axis; all bytes for a scalar.
  int64_t row_bytes() const { return rows() == 0 ? 0 : bytes_ / rows(); }
  int64_t rows() const { return shape_.rank() == 0 ? 1 : shape_[0]; }
  /// Returns a number that rises with every change.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  /// Whether snapshot() may be called; once false it stays so.
  bool has_snapshots() const { return !in_place_.load(std::memory_order_acquire); }
  /// Returns an empty snapshot when the variable has turned to updates in place in the meantime.
  Snapshot snapshot();
  /// Copies bytes [begin, begin + out.size()), at most a piece, as a whole.
  void read(int64_t begin, std::span<std::byte> out);
  /// Copies rows: row r of the result is row indices[r].
  /// Throws  InvalidArgumentError for an index outside.
  void gather(std::span<const int64_t> indices, std::byte* out);

  /// Replaces all elements.
  void assign(const std::byte* values);
  /// Replaces bytes from `begin` on.
  void write(int64_t begin, std::span<const std::byte> values);
  void fill(double value);
  /// Adds an array of the variable's shape and dtype; the new value goes to `result`.
  void add(const std::byte* delta, std::byte* result);

 private:
  friend class VariableWriter;
  std::shared_ptr<Block> make_block() const;
  std::shared_ptr<Block> free_block();
  void check_range(int64_t begin, int64_t size) const;

  const std::string key_;
  const Shape shape_;
  const DType dtype_;
  const int64_t bytes_;
  const std::shared_ptr<SharedArena> arena_;
  std::mutex writer_;           // only one writer at a time; guards blocks_
  std::shared_mutex contents_;  // exclusive while elements, or the current block, change
  std::shared_ptr<Block> current_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::atomic<uint64_t> version_{1};
  std::atomic<bool> in_place_{false};
  bool untouched_ = true;  // guarded by writer_
};

/// Allows one thread to change a variable during the object's life.
class VariableWriter {
 public:
  /// Whole changes all elements. Rows writes in place, from then on always. Unlocked writes in
  /// place beside other writers and readers, who may see any mixture.
  enum class Mode { Whole, Rows, Unlocked };
  explicit VariableWriter(StoredVariable& variable, Mode mode = Mode::Whole);

  /// Elements before and after; both are the same memory when it has no reader.
  const std::byte* from() const { return from_->data; }
  std::byte* to() const { return to_->data; }
  bool moves() const { return from_ != to_; }
  /// Returns a lock to hold while a piece or a row is written; it holds nothing when readers see
  /// snapshots.
  std::unique_lock<std::shared_mutex> lock_piece();
  /// Makes the new elements visible to readers.
  void commit();

 private:
  StoredVariable& variable_;
  Mode mode_;
  std::unique_lock<std::mutex> writer_;
  std::unique_lock<std::shared_mutex> contents_;
  std::shared_ptr<Block> from_, to_;
};

/// The part of a push for one variable, as the server applies it. Views of float32 elements.
struct StoredUpdate {
  StoredVariable* variable = nullptr;
  std::vector<StoredVariable*> slots = {};
  size_t index = 0;                    // number among the kernel's updates
  const float* gradient = nullptr;     // dense, or the rows'
  std::span<const int64_t> rows = {};  // of a sparse gradient
  bool sparse = false;
};

/// Applies the kernel to all elements, or to the rows of a sparse gradient, each row once. Without
/// `locking` updates of several clients may mix in one element.
void apply_update(const StoredUpdate& update, const UpdateKernel& kernel, bool locking);

}  // namespace distribute::parameter_server
