#pragma once
#include <distribute/base/detail/each_second.hpp>
#include <distribute/base/threads.hpp>

#include <chrono>
#include <utility>

namespace distribute::base_internal {

DISTRIBUTE_INLINE EachSecond::EachSecond(const std::string& purpose, std::function<void()> look)
    : look_(std::move(look)), thread_(start_thread(purpose, [this] { run(); })) {}

DISTRIBUTE_INLINE EachSecond::~EachSecond() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

DISTRIBUTE_INLINE void EachSecond::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; })) {
    lock.unlock();
    look_();
    lock.lock();
  }
}

}  // namespace distribute::base_internal
