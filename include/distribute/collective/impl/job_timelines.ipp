#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/job_timelines.hpp>
#include <distribute/net/deadline.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE void save_timelines(ClusterRuntime& runtime, const Timeline& timeline,
                                      std::span<const std::string> recording) {
  const auto deadline = net::Deadline::after_seconds(runtime.options().shutdown_timeout);
  const auto key = [](int rank) { return str_cat("timeline of rank ", rank); };
  const int rank = runtime.rank();
  std::vector<std::string> all{timeline.events(
      rank, runtime.describe(rank), std::chrono::nanoseconds(runtime.clock_offset_ns()))};
  try {
    if (rank != 0) return runtime.set(key(rank), all[0], deadline);
    for (int other = 1; other < runtime.size(); ++other)
      if (!recording[size_t(other)].empty()) all.push_back(runtime.get(key(other), deadline));
  } catch (const Error&) {  // the job has failed: all tasks know, and this task's own part is left
    if (rank != 0) return;
  }
  timeline.save(all);
}

}  // namespace distribute::collective
