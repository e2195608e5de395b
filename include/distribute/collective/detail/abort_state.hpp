#pragma once
/// Why a group was told to stop.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <atomic>
#include <mutex>
#include <string>

namespace distribute::collective {

/// Thread-safe.
class AbortState {
 public:
  /// False when there is a reason already: the first one stays.
  bool set(StatusCode code, const std::string& message);
  /// Throws  the reason, as an error of its code.
  void throw_if_set() const {
    if (is_set_.load(std::memory_order_acquire)) throw_error(code_, message_);
  }

 private:
  std::mutex mutex_;  // of set()
  std::atomic<bool> is_set_ = false;
  StatusCode code_ = StatusCode::Ok;  // do not change once is_set_
  std::string message_;
};

}  // namespace distribute::collective
