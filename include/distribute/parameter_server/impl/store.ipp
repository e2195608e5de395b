#pragma once
#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>
#include <distribute/parameter_server/detail/store.hpp>

#include <chrono>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE void Store::check(const Entry& entry, const Shape& shape, DType dtype,
                                    const std::string& who) {
  const StoredVariable& variable = *entry.variable;
  if (variable.shape() == shape && variable.dtype() == dtype) return;
  throw InvalidArgumentError(str_cat("variable '", variable.key(), "': ", who, " has ",
                                     name_of(dtype), " ", to_string(shape), ", but ",
                                     entry.creator.name, " has created it as ",
                                     name_of(variable.dtype()), " ", to_string(variable.shape())));
}

DISTRIBUTE_INLINE void Store::wait(std::unique_lock<std::mutex>& lock, const Cancelled& cancelled) {
  changed_.wait_for(lock, std::chrono::milliseconds(50));
  if (cancelled()) throw CancelledError("the caller no longer waits for the variable");
}

DISTRIBUTE_INLINE Store::Created Store::create(const std::string& key, const Shape& shape,
                                               DType dtype, Creator creator,
                                               const Cancelled& cancelled) {
  std::unique_lock lock(mutex_);
  const auto found = handles_.find(key);
  if (found == handles_.end()) {
    // Whole before it is entered: there may be no memory for it.
    auto entry = std::make_unique<Entry>();
    entry->variable = std::make_unique<StoredVariable>(key, shape, dtype, arena_);
    entry->creator = std::move(creator);
    const int64_t bytes = entry->variable->bytes();
    entries_.push_back(std::move(entry));
    const int handle = int(entries_.size()) - 1;
    handles_[key] = handle;
    server_metrics().variables.add(1);
    server_metrics().bytes.add(bytes);
    return {handle, true};
  }
  const int handle = found->second;
  Entry& entry = *entries_[size_t(handle)];
  check(entry, shape, dtype, creator.name);
  while (!entry.ready) {
    if (entry.creator.gone()) {
      entry.creator = std::move(creator);
      return {handle, true};
    }
    wait(lock, cancelled);
  }
  return {handle, false};
}

DISTRIBUTE_INLINE void Store::created(int handle) {
  at(handle);
  const std::lock_guard lock(mutex_);
  entries_[size_t(handle)]->ready = true;
  changed_.notify_all();
}

DISTRIBUTE_INLINE int Store::attach(const std::string& key, const Shape& shape, DType dtype,
                                    const std::string& who, const Cancelled& cancelled) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = handles_.find(key);
    if (found != handles_.end()) {
      const Entry& entry = *entries_[size_t(found->second)];
      check(entry, shape, dtype, who);
      if (entry.ready) return found->second;
    }
    wait(lock, cancelled);
  }
}

DISTRIBUTE_INLINE bool Store::exists(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(key);
  return found != handles_.end() && entries_[size_t(found->second)]->ready;
}

DISTRIBUTE_INLINE StoredVariable& Store::at(int64_t handle) const {
  const std::lock_guard lock(mutex_);
  if (handle < 0 || handle >= int64_t(entries_.size()))
    throw InvalidArgumentError(str_cat("there is no variable number ", handle));
  return *entries_[size_t(handle)]->variable;
}

DISTRIBUTE_INLINE int64_t Store::bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry->variable->bytes();
  return bytes;
}

}  // namespace distribute::parameter_server
