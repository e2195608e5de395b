#pragma once
/// Brings the timelines of a job's tasks together.

#include <distribute/collective/timeline.hpp>

#include <span>
#include <string>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Brings the timelines of all tasks to the leader, which saves them on its clock; `recording` says
/// which tasks have one. In a job that has failed the leader saves its own.
/// Blocks  at most the runtime's options().shutdown_timeout.
void save_timelines(ClusterRuntime& runtime, const Timeline& timeline,
                    std::span<const std::string> recording);

}  // namespace distribute::collective
