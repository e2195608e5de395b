#pragma once
/// A bound for the memory that gradients of a server take which are not applied yet.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace distribute::parameter_server {

/// Bounds the bytes of staged gradients of all sessions. Thread-safe.
class StagingBudget {
 public:
  explicit StagingBudget(int64_t bytes) : most_(bytes) {}
  /// Waits for room; gives it back when the result goes.
  std::shared_ptr<void> take(int64_t bytes);

 private:
  const int64_t most_;
  std::mutex mutex_;  // guards used_
  int64_t used_ = 0;
  std::condition_variable changed_;
};

}  // namespace distribute::parameter_server
