#pragma once
/// Pulls the values of many variables, from all servers at once.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/known_variables.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/detail/server_lanes.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace distribute::parameter_server {

/// One pull in progress. Values received are in KnownVariables; unchanged ones are not sent.
/// Thread-compatible; the lanes and the variables must outlive it.
class ValuePull {
 public:
  ValuePull(ServerLanes& lanes, KnownVariables& variables, bool bf16_on_wire,
            std::span<const VariableId> ids);
  bool covers(std::span<const VariableId> ids) const;
  /// Throws  the error on a server; UnavailableError; DeadlineExceededError.
  void finish();

 private:
  ServerLanes& lanes_;
  std::vector<VariableId> ids_;
  std::vector<ServerLanes::Answer> answers_;
};

}  // namespace distribute::parameter_server
