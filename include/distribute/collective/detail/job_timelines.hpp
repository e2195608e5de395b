#pragma once
/// Combines the timelines of a job's tasks.

#include <distribute/collective/timeline.hpp>

#include <span>
#include <string>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Sends the timelines of all tasks to the leader, which saves them with times of its clock;
/// `recording` tells which tasks have one. In a job that has failed the leader saves its own.
/// Blocks  at most the runtime's options().shutdown_timeout.
void save_timelines(ClusterRuntime& runtime, const Timeline& timeline,
                    std::span<const std::string> recording);

}  // namespace distribute::collective
