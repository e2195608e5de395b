#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/base/threads.hpp>

#include <utility>

#include <time.h>

namespace distribute {

namespace base_internal {

DISTRIBUTE_INLINE CpuShare::Seconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return CpuShare::Seconds(double(time.tv_sec) + double(time.tv_nsec) * 1e-9);
}

DISTRIBUTE_INLINE CpuShareScope*& current_cpu_share() {
  return base_internal::in_thread_context<base_internal::ContextPlace{0, 1}, CpuShareScope*>();
}

}  // namespace base_internal

DISTRIBUTE_INLINE void CpuShare::count(Seconds cpu_time) {
  const std::lock_guard lock(mutex_);
  counted_ += cpu_time;
}

DISTRIBUTE_INLINE CpuShare::Seconds CpuShare::counted() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}

DISTRIBUTE_INLINE void CpuShare::pause() {
  std::unique_lock lock(mutex_);
  const auto due = [this] { return began_ + counted_ / cores_; };
  while (!lifted_ && std::chrono::steady_clock::now() < due()) lifts_.wait_until(lock, due());
}

DISTRIBUTE_INLINE void CpuShare::lift() {
  const std::lock_guard lock(mutex_);
  lifted_ = true;
  lifts_.notify_all();
}

DISTRIBUTE_INLINE CpuShareScope::CpuShareScope(std::shared_ptr<CpuShare> share)
    : share_(std::move(share)),
      outer_(std::exchange(base_internal::current_cpu_share(), this)),
      counted_(base_internal::thread_cpu_time()) {}

DISTRIBUTE_INLINE CpuShareScope::~CpuShareScope() {
  count();
  base_internal::current_cpu_share() = outer_;
}

DISTRIBUTE_INLINE std::shared_ptr<CpuShare> CpuShareScope::current() {
  const CpuShareScope* scope = base_internal::current_cpu_share();
  return scope ? scope->share_ : nullptr;
}

DISTRIBUTE_INLINE void CpuShareScope::count() {
  if (!share_) return;
  const auto now = base_internal::thread_cpu_time();
  share_->count(now - std::exchange(counted_, now));
}

DISTRIBUTE_INLINE void CpuShareScope::pause() {
  CpuShareScope* scope = base_internal::current_cpu_share();
  if (!scope || !scope->share_) return;
  scope->count();
  scope->share_->pause();
}

}  // namespace distribute
