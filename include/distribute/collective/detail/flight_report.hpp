#pragma once
/// Report of a task when the job, or a generation of an elastic one, stops.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/flight_recorder.hpp>

#include <memory>
#include <string>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Formats "worker 1 (10.0.0.2:2222) ...", its last known position, the positions of the other
/// tasks, and the last collectives of this one.
std::string flight_report(const ClusterRuntime& runtime, const std::string& error,
                          const FlightRecorder& recorder);

}  // namespace distribute::collective
