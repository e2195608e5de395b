#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/collective/detail/flight_report.hpp>

#include <vector>

namespace distribute::collective {

/// The task that has stopped, this one, and the others by place: those that differ first.
DISTRIBUTE_INLINE std::string shortened_table(const ClusterRuntime& runtime, int stopped,
                                              const std::string& mine) {
  const auto describe = [&](int rank) { return runtime.describe(rank); };
  std::string text;
  if (stopped >= 0) text += str_cat("  ", describe(stopped), " STOPPED\n");
  text += str_cat("  ", describe(runtime.rank()), ": ", mine, " (this task)\n");
  for (const auto& group : runtime.progress_groups())
    text += str_cat("  ", group.tasks, group.tasks == 1 ? " task, " : " tasks, ",
                    cluster_internal::names_of(group, describe), ": ",
                    group.place.empty() ? "nothing was heard from them yet" : group.place, "\n");
  return text;
}

DISTRIBUTE_INLINE std::string flight_report(const ClusterRuntime& runtime, const std::string& error,
                                            const FlightRecorder& recorder) {
  const std::vector<std::string> positions = runtime.progress();
  const auto lost = runtime.lost();
  const std::string what = runtime.generation() == 0 ? "The job"
                                                     : str_cat("Generation ", runtime.generation(),
                                                               " of the elastic job");
  std::string text = str_cat(what, " has stopped: ", lost ? lost->reason : error, "\n");
  const std::string end = "The last collectives of this task:\n" + recorder.table(5);
  if (size_t(runtime.size()) > cluster_internal::kMostTexts)
    return text + shortened_table(runtime, lost ? lost->rank : -1, recorder.position()) + end;
  for (int r = 0; r < runtime.size(); ++r) {
    const bool mine = r == runtime.rank();
    const std::string& heard = positions[size_t(r)];
    text += str_cat("  ", runtime.describe(r), lost && lost->rank == r ? " STOPPED: " : ": ",
                    mine            ? recorder.position()
                    : heard.empty() ? "nothing was heard from it yet"
                                    : heard,
                    mine ? " (this task)" : "", "\n");
  }
  return text + end;
}

}  // namespace distribute::collective
