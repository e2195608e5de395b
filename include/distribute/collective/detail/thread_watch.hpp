#pragma once
/// Logs collectives between threads of this process that take long.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>

#include <memory>
#include <vector>

namespace distribute::collective {

/// Until the result is destroyed, a collective in which some of `ranks` wait for others is logged
/// after 10, 30 and 60 s, then each minute, with the ranks that are missing. The communicators must
/// live so long; there is one for each rank of the group.
std::shared_ptr<void> watch_threads(std::vector<std::shared_ptr<Communicator>> ranks);

}  // namespace distribute::collective
