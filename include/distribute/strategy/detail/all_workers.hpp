#pragma once
/// Work that every worker does; an error of one worker is thrown on all.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute {

class StrategyExtended;

namespace strategy_internal {

/// Result of one worker's part of common work.
struct WorkerOutcome {
  StatusCode code = StatusCode::Ok;
  std::string text = {};  // what the part returned, or the message of its error

  void fields(net::FieldVisitor& visit) {
    visit("code", code, StatusCode::Unauthenticated)("text", text);
  }
  static WorkerOutcome failure(const std::exception_ptr& error);
  std::string to_bytes() const;
  /// Parses the bytes of an outcome.
  /// Throws  DataLossError when they are none.
  static WorkerOutcome from_bytes(std::string_view bytes);
};

/// Exchanges the workers' results. Each worker passes the result of its part, or the error that it
/// threw, and gets the results of all, the chief's first.
/// Blocks  until every worker has called it.
/// Throws  on every worker the error of the first that failed, with its rank in the message; with
///          one worker `error` itself.
std::vector<std::string> share_outcomes(StrategyExtended& extended, std::string result,
                                        const std::exception_ptr& error);

/// Runs `part` here and returns the results of all workers, as share_outcomes(). `part` must
/// concern this process alone (files, checks): a failed operation between workers ends the job by
/// itself.
std::vector<std::string> on_all_workers(StrategyExtended& extended,
                                        const std::function<std::string()>& part);

/// As on_all_workers(), for work that may take longer than operations between workers may wait.
std::vector<std::string> on_all_workers_for_long(StrategyExtended& extended,
                                                 const std::function<std::string()>& part);

/// Keeps the other workers waiting during work that may take longer than operations between workers
/// may wait, such as writing to a slow disk: a thread meets the other workers repeatedly until the
/// object is destroyed. Every worker makes one; between making and destroying it a worker does
/// nothing else with the others.
class [[nodiscard]] LongWork {
 public:
  explicit LongWork(StrategyExtended& extended);
  /// Blocks  until the work of every worker has ended.
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 private:
  class Meetings;
  std::unique_ptr<Meetings> meetings_;  // null with one worker
};

/// Returns code and message of any exception.
std::pair<StatusCode, std::string> describe_failure(const std::exception_ptr& error);

}  // namespace strategy_internal
}  // namespace distribute
