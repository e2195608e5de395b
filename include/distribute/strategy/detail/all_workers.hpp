#pragma once
/// Work that every worker does, where the error of one is the error of all.

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

/// What one worker's part of common work has given.
struct WorkerOutcome {
  StatusCode code = StatusCode::Ok;
  std::string text = {};  // what the part returned, or the message of its error

  void fields(net::FieldVisitor& visit) {
    visit("code", code, StatusCode::Unauthenticated)("text", text);
  }
  static WorkerOutcome failure(const std::exception_ptr& error);
  std::string to_bytes() const;
  /// Throws  DataLossError when the bytes are not an outcome's.
  static WorkerOutcome from_bytes(std::string_view bytes);
};

/// Gives all workers what this worker's part has returned, or the error that it threw, and gives
/// what the parts of all have returned, the chief's first.
/// Blocks  until every worker has called it.
/// Throws  on every worker the error of the first that failed, with its rank in the message; of one
///         worker alone `error` itself.
std::vector<std::string> share_outcomes(StrategyExtended& extended, std::string result,
                                        const std::exception_ptr& error);

/// Runs `part` here and gives what it returned on all workers, as share_outcomes(). For work of
/// this process alone (files, checks): an operation between workers that fails ends the job by
/// itself.
std::vector<std::string> on_all_workers(StrategyExtended& extended,
                                        const std::function<std::string()>& part);

/// The same for work that may take longer than operations between workers may wait.
std::vector<std::string> on_all_workers_for_long(StrategyExtended& extended,
                                                 const std::function<std::string()>& part);

/// For work that may take longer than operations between workers may wait, such as writing to a
/// slow disk: while it lives, a thread meets the other workers again and again. Every worker makes
/// one; between making and destroying it a worker does nothing else with the others.
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

/// Code and message of any exception.
std::pair<StatusCode, std::string> describe_failure(const std::exception_ptr& error);

}  // namespace strategy_internal
}  // namespace distribute
