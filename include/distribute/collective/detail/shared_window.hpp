#pragma once
/// Shares a Window between the tasks of a host.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/window.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Returns a window that `tasks` map, this task and others of its host in rank order, with a place
/// for each of their `ranks_per_task` ranks. The first task makes the memory and sends its
/// descriptor to the others through a Unix socket: a client is on the same host, whatever names and
/// environment say. Every task of the job calls it with the same name; their lists may differ.
/// Returns null on all tasks of the job when one of them cannot map its window; `reason` then tells
/// why.
/// Throws  what the runtime throws.
std::shared_ptr<Window> share_window(ClusterRuntime& runtime, const std::string& name,
                                     const std::vector<int>& tasks, int ranks_per_task,
                                     std::string& reason);

}  // namespace distribute::collective
