#pragma once
/// Data that tables learn, and how the tasks of a job get it.

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

/// Identifies a table in a job with parameter servers, in which the chief publishes what the table
/// has learned and the other tasks read it.
class TableOfJob {
 public:
  /// Makes an object for a table outside of such a job.
  TableOfJob() = default;
  /// Uses the job of the current strategy's scope. `kind` is the name of the table's class.
  explicit TableOfJob(const std::string& kind);
  bool takes() const;
  /// Publishes the data if this task is the chief; does nothing on others.
  /// Throws  FailedPreconditionError when other data was published before.
  void give(const std::string& bytes) const;
  /// Gives the published data.
  /// Blocks  until the chief has published it. Throws  DeadlineExceededError.
  std::string take() const;

 private:
  std::string kind_, key_;
  std::shared_ptr<strategy_internal::ChiefTexts> texts_;
};

/// The data that a table has learned here or, if it learned nothing here, on the chief. T has
/// `bytes()` and a static `from_bytes(text)`. Used by one thread while it learns, then thread-safe;
/// copies are cheap.
template <typename T>
class Learned {
 public:
  /// Makes the state of a table whose entries were given.
  Learned() = default;
  /// Makes the state of a table that learns and was made in the scope of the current strategy.
  explicit Learned(const std::string& kind) : job_(kind) {
    if (job_.takes()) taken_ = std::make_shared<Taken>();
  }
  void set(T value) {
    job_.give(value.bytes());
    own_ = std::make_shared<const T>(std::move(value));
  }
  /// The learned data; null when nothing was learned so far. Only the first call waits for the
  /// chief. Blocks and throws  as TableOfJob::take() does.
  const T* get() const {
    if (own_ || !taken_) return own_.get();
    const T* there = taken_->there.load(std::memory_order_acquire);
    return there ? there : take();
  }

 private:
  struct Taken {
    std::mutex mutex;                // the thread that waits for the chief holds it
    std::unique_ptr<const T> value;  // guarded by mutex
    std::atomic<const T*> there{
        nullptr};  // value.get() once it is set, so that lookups need no mutex
  };

  const T* take() const {
    const std::lock_guard lock(taken_->mutex);
    if (!taken_->value) taken_->value = std::make_unique<const T>(T::from_bytes(job_.take()));
    taken_->there.store(taken_->value.get(), std::memory_order_release);
    return taken_->value.get();
  }

  TableOfJob job_;
  std::shared_ptr<const T> own_;
  std::shared_ptr<Taken> taken_;  // null: the chief's data is not used
};

}  // namespace distribute::preprocessing::preprocessing_internal
