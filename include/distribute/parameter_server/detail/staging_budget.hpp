#pragma once
/// Limits the memory of gradients that a server has received and not applied yet.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace distribute::parameter_server {

/// Limits the bytes of staged gradients of all sessions. Thread-safe.
class StagingBudget {
 public:
  explicit StagingBudget(int64_t bytes) : most_(bytes) {}
  /// Waits for room; the result frees it when destroyed.
  std::shared_ptr<void> take(int64_t bytes);

 private:
  const int64_t most_;
  std::mutex mutex_;  // guards used_
  int64_t used_ = 0;
  std::condition_variable changed_;
};

}  // namespace distribute::parameter_server
