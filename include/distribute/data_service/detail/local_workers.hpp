#pragma once
/// The workers of a data service that stand in this process.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::data::service_internal {

/// Makes a worker known to the readers of this process for as long as the object lives.
class LocalWorker {
 public:
  explicit LocalWorker(std::string address);  // "host:port", as the dispatcher knows it
  ~LocalWorker();
  LocalWorker(const LocalWorker&) = delete;

 private:
  const std::string address_;
};

/// Both are thread-safe.
bool is_local_worker(const std::string& address);
bool has_local_workers();

}  // namespace distribute::data::service_internal
