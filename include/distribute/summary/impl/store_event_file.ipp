#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/summary/detail/store_event_file.hpp>

#include <algorithm>
#include <utility>

namespace distribute::summary_internal {

inline constexpr std::chrono::milliseconds kFirstStorePause{50}, kLongestStorePause{30'000},
    kLongestClosingPause{1'000};

DISTRIBUTE_INLINE void RecordSpan::add(const RecordSpan& more) {
  if (more.count == 0) return;
  if (count == 0) first_step = more.first_step;
  last_step = more.last_step;
  count += more.count;
}

/// Adds the lost records to `status`, which names the file; ok when none are lost.
DISTRIBUTE_INLINE absl::Status loss_of(const std::string& path, const RecordSpan& lost,
                                       const absl::Status& status) {
  if (lost.count == 0) return status;
  const bool full = status.ok();
  const auto code = full ? StatusCode::ResourceExhausted : StatusCode(status.raw_code());
  return make_status(code, str_cat("event file: ",
                                   full ? path + ": the store was away for too long"
                                        : std::string(status.message()),
                                   "; ", lost.count, " records of steps ", lost.first_step, " to ",
                                   lost.last_step, " are lost"));
}

DISTRIBUTE_INLINE bool is_hopeless(const absl::Status& status) {
  return !status.ok() && !may_pass(StatusCode(status.raw_code()));
}

DISTRIBUTE_INLINE StoreEventFile::StoreEventFile(std::string path, io::RecordWriter file,
                                                 std::chrono::milliseconds flush_every,
                                                 int64_t max_waiting)
    : path_(std::move(path)),
      flush_every_(flush_every),
      max_waiting_(max_waiting),
      file_(std::move(file)),
      interval_(flush_every_),
      pause_(kFirstStorePause),
      thread_(base_internal::start_thread("writing " + path_, [this] { run(); })) {}

DISTRIBUTE_INLINE StoreEventFile::~StoreEventFile() {
  if (const absl::Status status = end(0); !status.ok())
    log_warning("summary", std::string(status.message()));
}

DISTRIBUTE_INLINE void StoreEventFile::write(int64_t step, std::string record) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  if (is_hopeless(last_)) throw_if_error(last_);
  const RecordSpan one{1, step, step};
  if (queued_.count + staged_.count >= max_waiting_) {
    if (dropped_.count == 0)
      log_warning("summary", str_cat("event file: ", path_, ": ", max_waiting_,
                                     " records wait for the store; later ones are lost"));
    return dropped_.add(one);
  }
  queue_.push_back(std::move(record));
  queued_.add(one);
  if (due_ != kNever) return;
  due_ = Clock::now() + interval_;
  changed_.notify_all();
}

DISTRIBUTE_INLINE void StoreEventFile::start_flush() {
  const std::lock_guard lock(mutex_);
  ++asked_;
  changed_.notify_all();
}

DISTRIBUTE_INLINE void StoreEventFile::flush() {
  Lock lock(mutex_);
  if (closing_) return;
  const int64_t mine = ++asked_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return answered_ >= mine || ended_; });
  throw_if_error(last_);
}

DISTRIBUTE_INLINE void StoreEventFile::close(double seconds) { throw_if_error(end(seconds)); }

/// Stops the thread after the current write, or when all is written; returns ok when it is called
/// again.
DISTRIBUTE_INLINE absl::Status StoreEventFile::end(double seconds) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return absl::OkStatus();
    closing_ = true;
    deadline_ = Clock::now() +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    pause_ = kFirstStorePause;
    changed_.notify_all();
  }
  thread_.join();
  RecordSpan lost = staged_;
  lost.add(queued_);
  const absl::Status status = lost.count ? last_ : absl::OkStatus();
  lost.add(dropped_);
  return loss_of(path_, lost, status);
}

/// Whether a thread that must end has nothing more to do. Call it with the mutex locked.
DISTRIBUTE_INLINE bool StoreEventFile::is_done() const {
  if (queued_.count + staged_.count == 0) return true;
  return is_hopeless(last_) || Clock::now() >= deadline_;
}

DISTRIBUTE_INLINE void StoreEventFile::run() {
  Lock lock(mutex_);
  while (!closing_) {
    while (!closing_ && asked_ == answered_ && Clock::now() < due_)
      due_ == kNever ? changed_.wait(lock) : void(changed_.wait_until(lock, due_));
    if (!closing_) try_once(lock);
  }
  while (queued_.count + staged_.count > 0) {
    try_once(lock);
    if (is_done()) break;
    const auto pause = std::min<Clock::duration>(pause_, kLongestClosingPause);
    changed_.wait_until(lock, std::min(Clock::now() + pause, deadline_));
  }
  ended_ = true;
  changed_.notify_all();
}

/// Writes once. Call it with the mutex locked, which it unlocks during the write.
DISTRIBUTE_INLINE void StoreEventFile::try_once(Lock& lock) {
  const std::vector<std::string> records = std::exchange(queue_, {});
  staged_.add(std::exchange(queued_, {}));
  const int64_t asked = asked_;
  lock.unlock();
  const auto began = Clock::now();
  const absl::Status status = put(records);
  const auto took = Clock::now() - began;
  if (!status.ok() && !is_hopeless(status))
    log_warning("summary", str_cat("event file: ", std::string(status.message()),
                                   "; its records are kept and tried again"));
  lock.lock();
  last_ = status;
  answered_ = asked;
  if (status.ok()) staged_ = {};
  plan_next(took);
  changed_.notify_all();
}

DISTRIBUTE_INLINE absl::Status StoreEventFile::put(const std::vector<std::string>& records) {
  for (const std::string& record : records)
    if (absl::Status status = file_.write(record); !status.ok()) return status;
  return file_.flush();
}

/// Sets the time of the thread's next write. Call it with the mutex locked.
DISTRIBUTE_INLINE void StoreEventFile::plan_next(Clock::duration took) {
  interval_ = std::max(flush_every_, 50 * took);
  due_ = kNever;
  if (last_.ok()) {
    pause_ = kFirstStorePause;
    if (queued_.count) due_ = Clock::now() + interval_;
  } else if (!is_hopeless(last_)) {
    due_ = Clock::now() + std::max<Clock::duration>(interval_, pause_);
    pause_ = std::min<Clock::duration>(2 * pause_, kLongestStorePause);
  }
}

}  // namespace distribute::summary_internal
