#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/flight_report.hpp>

#include <vector>

namespace distribute::collective {

DISTRIBUTE_INLINE std::string flight_report(const ClusterRuntime& runtime, const std::string& error,
                                            const FlightRecorder& recorder) {
  const std::vector<std::string> positions = runtime.progress();
  const auto lost = runtime.lost();
  const std::string what = runtime.generation() == 0 ? "The job"
                                                     : str_cat("Generation ", runtime.generation(),
                                                               " of the elastic job");
  std::string text = str_cat(what, " has stopped: ", lost ? lost->reason : error, "\n");
  for (int r = 0; r < runtime.size(); ++r) {
    const bool mine = r == runtime.rank();
    const std::string& heard = positions[size_t(r)];
    text += str_cat("  ", runtime.describe(r), lost && lost->rank == r ? " STOPPED: " : ": ",
                    mine            ? recorder.position()
                    : heard.empty() ? "nothing was heard from it yet"
                                    : heard,
                    mine ? " (this task)" : "", "\n");
  }
  return text + "The last collectives of this task:\n" + recorder.table(5);
}

}  // namespace distribute::collective
