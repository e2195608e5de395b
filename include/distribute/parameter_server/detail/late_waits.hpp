#pragma once
/// Logs waits for other tasks that take long.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/each_second.hpp>
#include <distribute/rpc/job_task.hpp>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace distribute::parameter_server {

struct LateWait;

/// A wait is told after 10, 30 and 60 s, then each minute, in one line that says for what. A thread
/// starts with the first wait. Thread-safe.
class LateWaits {
 public:
  /// Says what is waited for and who is missing; empty: another task says it. It runs on the thread
  /// of LateWaits and may throw.
  using What = std::function<std::string()>;

  explicit LateWaits(std::shared_ptr<rpc::JobTask> task) : task_(std::move(task)) {}
  LateWaits(const LateWaits&) = delete;

  /// Waits from its construction to its end, at most `limit` seconds.
  class [[nodiscard]] Wait {
   public:
    Wait(LateWaits& all, double limit, What what);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    LateWaits& all_;
    std::list<std::shared_ptr<LateWait>>::iterator place_;
  };

 private:
  void look();
  void tell(LateWait& wait) const;

  const std::shared_ptr<rpc::JobTask> task_;
  std::mutex mutex_;  // guards the members below
  std::list<std::shared_ptr<LateWait>> waits_;
  std::optional<base_internal::EachSecond> watch_;  // unset: none has waited yet
};

}  // namespace distribute::parameter_server
