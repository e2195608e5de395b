#pragma once
/// The reason why a group was aborted.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <atomic>
#include <mutex>
#include <string>

namespace distribute::collective {

/// Keeps the first reason. Thread-safe.
class AbortState {
 public:
  /// Sets the reason; returns false when there is one already, which is kept.
  bool set(StatusCode code, const std::string& message);
  /// Throws  the reason, as an error of its code, if there is one.
  void throw_if_set() const {
    if (is_set_.load(std::memory_order_acquire)) throw_error(code_, message_);
  }

 private:
  std::mutex mutex_;  // of set()
  std::atomic<bool> is_set_ = false;
  StatusCode code_ = StatusCode::Ok;  // constant once is_set_
  std::string message_;
};

}  // namespace distribute::collective
