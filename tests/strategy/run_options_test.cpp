#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("run takes options before the function", "[strategy][run_options]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto doubled = strategy.run(
      RunOptions{}, [](const Tensor& x) { return x.item<float>() * 2; }, Tensor(3.0f));
  CHECK(doubled.values() == std::vector<float>{6, 6});
}

TEST_CASE("options of XLA are refused by name, before anything runs", "[strategy][run_options]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto never = [] { throw InternalError("it ran"); };
  CHECK_THROWS_WITH(strategy.run({.experimental_enable_dynamic_batch_size = false}, never),
                    Catch::Contains("experimental_enable_dynamic_batch_size"));
  CHECK_THROWS_WITH(strategy.run({.experimental_bucketizing_dynamic_shape = true}, never),
                    Catch::Contains("experimental_bucketizing_dynamic_shape"));
}
