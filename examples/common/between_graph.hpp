#pragma once
/// --strategy=parameter_server where every worker runs a loop of its own: the classic way, with
/// one of them, or the task chief, as the chief.

#include "parameter_servers.hpp"

namespace examples {

class BetweenGraph : public ParameterServers {
 public:
  using ParameterServers::ParameterServers;

  void begin() override;

 private:
  distribute::InputContext place() const override;
};

}  // namespace examples
