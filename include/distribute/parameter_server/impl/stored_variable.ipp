#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/parameter_server/detail/stored_variable.hpp>
#include <distribute/replica/detail/sum_rows.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE StoredVariable::StoredVariable(std::string key, Shape shape, DType dtype,
                                                 std::shared_ptr<SharedArena> arena)
    : key_(std::move(key)),
      shape_(shape),
      dtype_(dtype),
      bytes_(shape.num_elements() * size_of(dtype)),
      arena_(std::move(arena)) {
  in_place_ = bytes_ > kSnapshotBytes;
  current_ = free_block();
}

DISTRIBUTE_INLINE std::shared_ptr<Block> StoredVariable::make_block() const {
  auto block = std::make_shared<Block>();
  if (arena_) block->offset = arena_->allocate(bytes_);
  if (block->offset >= 0) {
    block->data = arena_->at(block->offset);
  } else {
    block->heap = std::make_unique<Buffer>(bytes_, Device{});
    block->data = static_cast<std::byte*>(block->heap->data());
  }
  return block;
}

DISTRIBUTE_INLINE std::shared_ptr<Block> StoredVariable::free_block() {
  for (const auto& block : blocks_)
    if (block != current_ && block->pins.load(std::memory_order_acquire) == 0) return block;
  return blocks_.emplace_back(make_block());
}

DISTRIBUTE_INLINE Snapshot StoredVariable::snapshot() {
  const std::shared_lock lock(contents_);
  if (in_place_) return {};
  current_->pins.fetch_add(1, std::memory_order_relaxed);
  return Snapshot(current_, version());
}

DISTRIBUTE_INLINE void StoredVariable::check_range(int64_t begin, int64_t size) const {
  if (begin < 0 || size < 0 || begin > bytes_ - size)
    throw InvalidArgumentError(str_cat("variable '", key_, "' of ", bytes_, " bytes: bytes ", begin,
                                       " to ", begin + size, " are outside"));
}

DISTRIBUTE_INLINE void StoredVariable::read(int64_t begin, std::span<std::byte> out) {
  check_range(begin, int64_t(out.size()));
  const std::shared_lock lock(contents_);
  copy_memory(out.data(), current_->data + begin, out.size());
}

DISTRIBUTE_INLINE void StoredVariable::gather(std::span<const int64_t> indices, std::byte* out) {
  const int64_t size = row_bytes();
  for (const int64_t row : indices) {
    if (row < 0 || row >= rows())
      throw InvalidArgumentError(str_cat("gather: variable '", key_, "' has ", rows(),
                                         " rows, row ", row, " is asked for"));
    const std::shared_lock lock(contents_);
    std::memcpy(out, current_->data + row * size, size_t(size));
    out += size;
  }
}

DISTRIBUTE_INLINE void StoredVariable::assign(const std::byte* values) {
  VariableWriter writer(*this);
  for (int64_t begin = 0; begin < bytes_; begin += kPieceBytes) {
    const auto lock = writer.lock_piece();
    copy_memory(writer.to() + begin, values + begin, size_t(std::min(kPieceBytes, bytes_ - begin)));
  }
  writer.commit();
}

DISTRIBUTE_INLINE void StoredVariable::write(int64_t begin, std::span<const std::byte> values) {
  check_range(begin, int64_t(values.size()));
  VariableWriter writer(*this);
  if (writer.moves()) copy_memory(writer.to(), writer.from(), size_t(bytes_));
  const auto lock = writer.lock_piece();
  copy_memory(writer.to() + begin, values.data(), values.size());
  writer.commit();
}

DISTRIBUTE_INLINE void StoredVariable::fill(double value) {
  const bool zero = [&] {
    const std::lock_guard lock(writer_);
    return value == 0 && untouched_ && current_->offset >= 0;
  }();
  if (zero) return;  // an arena's fresh memory is zero, and not there before it is written
  VariableWriter writer(*this);
  dispatch(dtype_, [&](auto element) {
    using T = decltype(element);
    const auto lock = writer.lock_piece();
    std::fill_n(reinterpret_cast<T*>(writer.to()), shape_.num_elements(), T(float(value)));
  });
  writer.commit();
}

DISTRIBUTE_INLINE void StoredVariable::add(const std::byte* delta, std::byte* result) {
  VariableWriter writer(*this);
  const auto lock = writer.lock_piece();
  dispatch(dtype_, [&](auto element) {
    using T = decltype(element);
    const T* from = reinterpret_cast<const T*>(writer.from());
    const T* by = reinterpret_cast<const T*>(delta);
    T* to = reinterpret_cast<T*>(writer.to());
    const auto sum = [](T a, T b) {
      if constexpr (std::is_arithmetic_v<T>)
        return T(a + b);
      else
        return T(float(a) + float(b));
    };
    for (int64_t i = 0; i < shape_.num_elements(); ++i) to[i] = sum(from[i], by[i]);
  });
  copy_memory(result, writer.to(), size_t(bytes_));
  writer.commit();
}

DISTRIBUTE_INLINE VariableWriter::VariableWriter(StoredVariable& variable, Mode mode)
    : variable_(variable), mode_(mode) {
  if (mode == Mode::Unlocked) {
    const std::shared_lock lock(variable.contents_);
    from_ = to_ = variable.current_;
    return;
  }
  writer_ = std::unique_lock(variable.writer_);
  contents_ = std::unique_lock(variable.contents_);
  variable.untouched_ = false;
  from_ = to_ = variable.current_;
  const bool pinned = from_->pins.load(std::memory_order_acquire) != 0;
  if (mode == Mode::Rows && !variable.in_place_) {
    if (pinned) {  // the last snapshots keep what they have
      const auto block = variable.free_block();
      copy_memory(block->data, from_->data, size_t(variable.bytes_));
      variable.current_ = from_ = to_ = block;
    }
    variable.in_place_ = true;
  }
  // Without readers this object keeps the lock until it is destroyed, so that no other thread
  // reads.
  if (variable.in_place_ || pinned) contents_.unlock();
  if (!variable.in_place_ && pinned) to_ = variable.free_block();
}

DISTRIBUTE_INLINE std::unique_lock<std::shared_mutex> VariableWriter::lock_piece() {
  if (variable_.in_place_ && mode_ != Mode::Unlocked) return std::unique_lock(variable_.contents_);
  return {};
}

DISTRIBUTE_INLINE void VariableWriter::commit() {
  if (moves()) {
    const std::lock_guard lock(variable_.contents_);
    variable_.current_ = to_;
    variable_.version_.fetch_add(1, std::memory_order_release);
    return;
  }
  variable_.version_.fetch_add(1, std::memory_order_release);
}

/// Updates the elements [begin, begin + count) of a variable and its slots.
DISTRIBUTE_INLINE void apply_slice(std::span<VariableWriter> writers, const StoredUpdate& update,
                                   const UpdateKernel& kernel, int64_t begin, int64_t count) {
  constexpr size_t kMostSlots = 8;
  float* arrays[kMostSlots + 1];  // checked when the push arrives
  for (size_t w = 0; w < writers.size(); ++w) {
    arrays[w] = reinterpret_cast<float*>(writers[w].to()) + begin;
    if (writers[w].moves())
      copy_memory(arrays[w], reinterpret_cast<const float*>(writers[w].from()) + begin,
                  size_t(count) * sizeof(float));
  }
  kernel(update.index, arrays[0], arrays + 1, update.gradient + begin, count);
}

DISTRIBUTE_INLINE void apply_dense(std::span<VariableWriter> writers, const StoredUpdate& update,
                                   const UpdateKernel& kernel) {
  constexpr int64_t kSlice = 16384, kPiece = kPieceBytes / int64_t(sizeof(float));
  const int64_t size = update.variable->shape().num_elements();
  for (int64_t first = 0; first < size; first += kPiece) {
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    for (VariableWriter& writer : writers) locks.push_back(writer.lock_piece());
    const int64_t end = std::min(size, first + kPiece);
    parallel_for((end - first + kSlice - 1) / kSlice, 2, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t begin = first + i * kSlice;
        apply_slice(writers, update, kernel, begin, std::min(kSlice, end - begin));
      }
    });
  }
}

DISTRIBUTE_INLINE void apply_rows(std::span<VariableWriter> writers, const StoredUpdate& update,
                                  const UpdateKernel& kernel) {
  const int64_t width = update.variable->row_bytes() / int64_t(sizeof(float));
  std::vector<float*> slots(writers.size() - 1);
  std::vector<std::unique_lock<std::shared_mutex>> locks(writers.size());
  replica_internal::sum_rows(update.rows, update.gradient, width,
                             [&](int64_t row, const float* sum) {
                               for (size_t w = 0; w < writers.size(); ++w)
                                 locks[w] = writers[w].lock_piece();
                               const auto at = [&](size_t w) {
                                 return reinterpret_cast<float*>(writers[w].to()) + row * width;
                               };
                               for (size_t s = 0; s < slots.size(); ++s) slots[s] = at(s + 1);
                               kernel(update.index, at(0), slots.data(), sum, width);
                               for (auto& lock : locks) lock = {};
                             });
}

DISTRIBUTE_INLINE void apply_update(const StoredUpdate& update, const UpdateKernel& kernel,
                                    bool locking) {
  using Mode = VariableWriter::Mode;
  const Mode mode = update.sparse ? Mode::Rows : locking ? Mode::Whole : Mode::Unlocked;
  std::vector<VariableWriter> writers;
  writers.reserve(update.slots.size() + 1);
  writers.emplace_back(*update.variable, mode);
  for (StoredVariable* slot : update.slots) writers.emplace_back(*slot, mode);
  if (update.sparse)
    apply_rows(writers, update, kernel);
  else
    apply_dense(writers, update, kernel);
  // The order is reversed, as a commit locks again what was unlocked while others were written.
  for (; !writers.empty(); writers.pop_back()) writers.back().commit();
}

}  // namespace distribute::parameter_server
