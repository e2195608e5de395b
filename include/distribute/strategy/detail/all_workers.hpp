#pragma once
/// Work that every worker does, where the error of one is the error of all.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

class StrategyExtended;

namespace strategy_internal {

/// Runs `part` here and gives what it returned on all workers, the chief's first. For work of this
/// process alone (files, checks): an operation between workers that fails ends the job by itself.
/// Blocks  until it has ended on every worker.
/// Throws  on every worker the error of the first that failed, with its rank in the message.
std::vector<std::string> on_all_workers(StrategyExtended& extended,
                                        const std::function<std::string()>& part);

/// The same for work that may take longer than operations between workers may wait, such as writing
/// to a slow disk: meanwhile the workers meet again and again.
std::vector<std::string> on_all_workers_for_long(StrategyExtended& extended,
                                                 const std::function<std::string()>& part);

/// Code and message of any exception.
std::pair<StatusCode, std::string> describe_failure(const std::exception_ptr& error);

}  // namespace strategy_internal
}  // namespace distribute
