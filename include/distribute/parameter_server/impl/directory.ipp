#pragma once
#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/directory.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE int Directory::choose(const VariableSpec& spec, Placement placement) {
  if (!spec.colocate_with.empty()) {
    const auto found = servers_.find(spec.colocate_with);
    if (found == servers_.end())
      throw InvalidArgumentError(str_cat("variable '", spec.key, "' shall stand beside '",
                                         spec.colocate_with, "', which is on no server"));
    return found->second;
  }
  if (spec.server) return *spec.server;
  if (placement == Placement::RoundRobin) return int(next_++ % int64_t(loads_.size()));
  return int(std::min_element(loads_.begin(), loads_.end()) - loads_.begin());
}

DISTRIBUTE_INLINE int Directory::place(const VariableSpec& spec, Placement placement,
                                       const std::string& who) {
  const std::lock_guard lock(mutex_);
  const int servers = int(loads_.size());
  if (spec.server && (*spec.server < 0 || *spec.server >= servers))
    throw InvalidArgumentError(str_cat("variable '", spec.key, "': ", who, " wants it on ps ",
                                       *spec.server, ", the job has ", servers));
  if (const auto found = servers_.find(spec.key); found != servers_.end()) {
    if (!spec.server || *spec.server == found->second) return found->second;
    throw InvalidArgumentError(str_cat("variable '", spec.key, "': ", who, " wants it on ps ",
                                       *spec.server, ", but it is on ps ", found->second));
  }
  const int server = choose(spec, placement);
  servers_[spec.key] = server;
  loads_[size_t(server)] += spec.shape.num_elements() * size_of(spec.dtype);
  changed_.notify_all();
  return server;
}

DISTRIBUTE_INLINE int Directory::find_now(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(key);
  return found == servers_.end() ? -1 : found->second;
}

DISTRIBUTE_INLINE int Directory::find(const std::string& key, const Store::Cancelled& cancelled) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = servers_.find(key);
    if (found != servers_.end()) return found->second;
    changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (cancelled()) throw CancelledError("the caller no longer waits for the variable");
  }
}

DISTRIBUTE_INLINE void Directory::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  values_[key] = value;
  changed_.notify_all();
}

DISTRIBUTE_INLINE std::string Directory::get(const std::string& key,
                                             const Store::Cancelled& cancelled) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (cancelled()) throw CancelledError("the caller no longer waits for the value");
  }
}

}  // namespace distribute::parameter_server
