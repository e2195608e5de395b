#pragma once
/// --strategy=parameter_server where every worker runs a loop of its own: the classic way, with
/// one of them, or the task chief, as the chief.

#include "parameter_servers.hpp"

namespace examples {

class BetweenGraph : public ParameterServers {
 public:
  using ParameterServers::ParameterServers;

  void begin() override;
  distribute::PerReplica<Batch> next_batch() override { return t.next_of(*iterator_); }

 private:
  distribute::InputContext place() const override;

  std::optional<distribute::DistributedIterator> iterator_;
};

}  // namespace examples
