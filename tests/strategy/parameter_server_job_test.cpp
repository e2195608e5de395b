#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include "../support/catch.hpp"

using namespace distribute;

TEST_CASE("only a strategy with servers elsewhere has a job", "[strategy][parameter_server_job]") {
  CHECK_FALSE(ParameterServerJob::of(MirroredStrategy<CpuDevice>({.num_replicas = 1})));
  CHECK_FALSE(ParameterServerJob::of(ParameterServerStrategy<CpuDevice>()));  // no cluster
}
