#pragma once
/// What tables learn from data, and how it comes to the tasks of a job.

#include <distribute/base/config.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace distribute::strategy_internal {
class ChiefTexts;
}

namespace distribute::preprocessing::preprocessing_internal {

/// A table's place in a job with parameter servers: the chief hands on what the table has learned,
/// the other tasks take it.
class TableOfJob {
 public:
  /// There is no such job.
  TableOfJob() = default;
  /// Takes the job of the current strategy's scope. `kind` is the name of the table's class.
  explicit TableOfJob(const std::string& kind);
  bool takes() const;
  /// It does something on the chief alone. Throws  FailedPreconditionError after it gave something
  /// else.
  void give(const std::string& bytes) const;
  /// Blocks  until the chief has given it. Throws  DeadlineExceededError.
  std::string take() const;

 private:
  std::string kind_, key_;
  std::shared_ptr<strategy_internal::ChiefTexts> texts_;
};

/// What a table has learned, here or, where it learned nothing here, on the chief. T has `bytes()`
/// and a static `from_bytes(text)`. One thread while it learns, then thread-safe; copies are cheap.
template <typename T>
class Learned {
 public:
  /// Makes the state of a table that was given its entries.
  Learned() = default;
  /// Makes the state of a table that learns, made in the scope of the current strategy.
  explicit Learned(const std::string& kind) : job_(kind) {
    if (job_.takes()) taken_ = std::make_shared<Taken>();
  }
  void set(T value) {
    job_.give(value.bytes());
    own_ = std::make_shared<const T>(std::move(value));
  }
  /// It is null when nothing was learned so far. Waits for the chief the first time alone. Blocks
  /// and throws as TableOfJob::take().
  const T* get() const {
    if (own_ || !taken_) return own_.get();
    const T* there = taken_->there.load(std::memory_order_acquire);
    return there ? there : take();
  }

 private:
  struct Taken {
    std::mutex mutex;                // held by the thread that waits for the chief
    std::unique_ptr<const T> value;  // guarded by mutex
    std::atomic<const T*> there{
        nullptr};  // value.get() from then on, for lookups without the mutex
  };

  const T* take() const {
    const std::lock_guard lock(taken_->mutex);
    if (!taken_->value) taken_->value = std::make_unique<const T>(T::from_bytes(job_.take()));
    taken_->there.store(taken_->value.get(), std::memory_order_release);
    return taken_->value.get();
  }

  TableOfJob job_;
  std::shared_ptr<const T> own_;
  std::shared_ptr<Taken> taken_;  // null: nothing is taken
};

}  // namespace distribute::preprocessing::preprocessing_internal
