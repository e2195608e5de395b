#pragma once
/// Calls a function once a second, on a thread of its own.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace distribute::base_internal {

/// The thread ends with this object, which waits for a call under way.
class EachSecond {
 public:
  /// `purpose` names the thread in messages.
  /// Throws  ResourceExhaustedError when no thread can be made.
  EachSecond(const std::string& purpose, std::function<void()> look);
  ~EachSecond();
  EachSecond(const EachSecond&) = delete;
  EachSecond& operator=(const EachSecond&) = delete;

 private:
  void run();

  const std::function<void()> look_;
  std::mutex mutex_;  // guards stop_
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace distribute::base_internal
