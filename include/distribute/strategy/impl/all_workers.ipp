#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::pair<StatusCode, std::string> describe_failure(
    const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return {known.code(), known.what()};
  } catch (const std::exception& other) {
    return {StatusCode::Unknown, other.what()};
  } catch (...) {
    return {StatusCode::Unknown, "an exception of unknown type"};
  }
}

DISTRIBUTE_INLINE WorkerOutcome WorkerOutcome::failure(const std::exception_ptr& error) {
  auto [code, message] = describe_failure(error);
  return {code == StatusCode::Ok ? StatusCode::Unknown : code, std::move(message)};
}

DISTRIBUTE_INLINE std::string WorkerOutcome::to_bytes() const { return net::encode_message(*this); }

DISTRIBUTE_INLINE WorkerOutcome WorkerOutcome::from_bytes(std::string_view bytes) {
  auto outcome = net::parse_message<WorkerOutcome>(bytes, "outcome of another worker's part");
  if (!outcome.ok()) throw DataLossError(std::string(outcome.status().message()));
  return *std::move(outcome);
}

DISTRIBUTE_INLINE std::vector<std::string> share_outcomes(StrategyExtended& extended,
                                                          std::string result,
                                                          const std::exception_ptr& error) {
  const WorkerOutcome mine =
      error ? WorkerOutcome::failure(error) : WorkerOutcome{StatusCode::Ok, std::move(result)};
  std::vector<std::string> all = extended.all_gather_texts(mine.to_bytes());
  if (error && all.size() == 1) std::rethrow_exception(error);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    WorkerOutcome theirs = WorkerOutcome::from_bytes(all[rank]);
    if (theirs.code != StatusCode::Ok)
      throw_error(theirs.code, str_cat("rank ", rank, " of ", all.size(), ": ", theirs.text));
    all[rank] = std::move(theirs.text);
  }
  return all;
}

DISTRIBUTE_INLINE std::vector<std::string> on_all_workers(
    StrategyExtended& extended, const std::function<std::string()>& part) {
  std::string result;
  std::exception_ptr error;
  try {
    result = part();
  } catch (...) {
    error = std::current_exception();
  }
  return share_outcomes(extended, std::move(result), error);
}

/// Meets the other workers five times a second, until those of every worker are stopped.
class LongWork::Meetings {
 public:
  explicit Meetings(StrategyExtended& extended)
      : extended_(extended),
        thread_(base_internal::start_thread("meeting the other workers", [this] { run(); })) {}
  Meetings(const Meetings&) = delete;
  ~Meetings() {
    stop();
    thread_.join();
  }

 private:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stopped_; });
  }
  /// A failure here ends the job, and the next operation of the worker's own thread throws its
  /// error.
  void run() {
    try {
      while (extended_.any_worker(wait())) {
      }
    } catch (const std::exception&) {
    }
  }

  StrategyExtended& extended_;
  std::mutex mutex_;  // guards stopped_
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses the others
};

DISTRIBUTE_INLINE LongWork::LongWork(StrategyExtended& extended) {
  if (extended.input_context().num_input_pipelines() > 1)
    meetings_ = std::make_unique<Meetings>(extended);
}
DISTRIBUTE_INLINE LongWork::~LongWork() = default;

DISTRIBUTE_INLINE std::vector<std::string> on_all_workers_for_long(
    StrategyExtended& extended, const std::function<std::string()>& part) {
  std::string result;
  std::exception_ptr error;
  {
    const LongWork work(extended);
    try {
      result = part();
    } catch (...) {
      error = std::current_exception();
    }
  }
  return share_outcomes(extended, std::move(result), error);
}

}  // namespace distribute::strategy_internal
