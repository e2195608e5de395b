#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
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

/// "+RESULT", or "-CODE MESSAGE".
DISTRIBUTE_INLINE std::string outcome_text(const std::function<std::string()>& part,
                                           std::exception_ptr& error) {
  try {
    return "+" + part();
  } catch (...) {
    error = std::current_exception();
    const auto [code, message] = describe_failure(error);
    return str_cat("-", int(code), " ", message);
  }
}

DISTRIBUTE_INLINE std::vector<std::string> on_all_workers(
    StrategyExtended& extended, const std::function<std::string()>& part) {
  std::exception_ptr error;
  std::vector<std::string> all = extended.all_gather_texts(outcome_text(part, error));
  if (error && all.size() == 1) std::rethrow_exception(error);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::string& text = all[rank];
    if (text[0] == '-')
      throw_error(
          StatusCode(std::atoi(text.c_str() + 1)),
          str_cat("rank ", rank, " of ", all.size(), ": ", text.substr(text.find(' ') + 1)));
    text.erase(0, 1);
  }
  return all;
}

/// Until every worker's is told to stop, meets the other workers five times a second.
class Meetings {
 public:
  explicit Meetings(StrategyExtended& extended)
      : extended_(extended),
        thread_(base_internal::start_thread("meeting the other workers", [this] { run(); })) {}
  Meetings(const Meetings&) = delete;
  ~Meetings() { thread_.join(); }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }

 private:
  bool wait() {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stopped_; });
  }
  /// A failure ends the job: the next operation of the worker's own thread will say so.
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

DISTRIBUTE_INLINE std::vector<std::string> on_all_workers_for_long(
    StrategyExtended& extended, const std::function<std::string()>& part) {
  std::exception_ptr error;
  std::string result;
  if (extended.input_context().num_input_pipelines() > 1) {
    Meetings meetings(extended);
    try {
      result = part();
    } catch (...) {
      error = std::current_exception();
    }
    meetings.stop();
  } else {
    result = part();
  }
  return on_all_workers(extended, [&] {
    if (error) std::rethrow_exception(error);
    return result;
  });
}

}  // namespace distribute::strategy_internal
