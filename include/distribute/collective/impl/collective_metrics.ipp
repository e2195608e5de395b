#pragma once
#include <distribute/collective/detail/collective_metrics.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE CollectiveCells CollectiveMetrics::of(const std::string& kind,
                                                        const std::string& transport) {
  CollectiveCells cells{.calls = &collectives.get_cell({kind, transport}),
                        .time = &time.get_cell({kind, transport}),
                        .bytes = &bytes.get_cell({kind, transport})};
  if (transport == "tcp" || transport == "hierarchical") return cells;
  cells.sent = &transport_bytes.get_cell({"collective", transport, "sent"});
  cells.received = &transport_bytes.get_cell({"collective", transport, "received"});
  return cells;
}

}  // namespace distribute::collective
