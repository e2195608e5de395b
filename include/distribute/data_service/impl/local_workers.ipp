#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/data_service/detail/local_workers.hpp>

#include <mutex>
#include <set>
#include <utility>

namespace distribute::data::service_internal {

struct LocalWorkers {
  std::mutex mutex = {};  // guards addresses
  std::multiset<std::string> addresses = {};
};

DISTRIBUTE_INLINE LocalWorkers& local_workers() { return in_process<LocalWorkers>(); }

DISTRIBUTE_INLINE LocalWorker::LocalWorker(std::string address) : address_(std::move(address)) {
  const std::lock_guard lock(local_workers().mutex);
  local_workers().addresses.insert(address_);
}

DISTRIBUTE_INLINE LocalWorker::~LocalWorker() {
  const std::lock_guard lock(local_workers().mutex);
  local_workers().addresses.extract(address_);
}

DISTRIBUTE_INLINE bool is_local_worker(const std::string& address) {
  const std::lock_guard lock(local_workers().mutex);
  return local_workers().addresses.contains(address);
}

DISTRIBUTE_INLINE bool has_local_workers() {
  const std::lock_guard lock(local_workers().mutex);
  return !local_workers().addresses.empty();
}

}  // namespace distribute::data::service_internal
