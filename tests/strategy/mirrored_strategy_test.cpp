#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/strategy/replica_check.hpp>
#include <tests/support/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <vector>

using namespace distribute;

namespace {

int id_here() { return get_replica_context()->replica_id_in_sync_group(); }

UpdateKernel minus_gradient() {
  return [](size_t, float* weights, float* const*, const float* gradient, int64_t count) {
    for (int64_t i = 0; i < count; ++i) weights[i] -= gradient[i];
  };
}

}  // namespace

// Case 14: testReplicaId, testNumReplicasInSync, testThreeDevices.
TEST_CASE("run calls the function once per replica with its own id", "[strategy][mirrored]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  std::atomic<int> calls{0};
  const PerReplica<int> ids = strategy.run([&] {
    ++calls;
    REPLICA_CHECK(get_replica_context()->num_replicas_in_sync() == n);
    REPLICA_CHECK(&get_strategy() == &strategy);
    return id_here();
  });
  std::vector<int> expected(static_cast<size_t>(n));
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(calls == n);
  CHECK(ids.values() == expected);
  CHECK(strategy.num_replicas_in_sync() == n);
}

// Case 15: testReduceToCpu.
TEST_CASE("the sum of replica ids is N(N-1)/2", "[strategy][mirrored]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto ids = strategy.run([] { return Tensor(float(id_here())); });
  CHECK(strategy.reduce(ReduceOp::Sum, ids).item<float>() == float(n * (n - 1) / 2));
  CHECK(strategy.reduce("mean", ids).item<float>() == Approx(float(n - 1) / 2));
}

TEST_CASE("all_reduce gives every replica the sum in replica order", "[strategy][mirrored]") {
  const int n = GENERATE(1, 2, 3, 4);
  const int64_t size = GENERATE(1, 5, 100'000);
  MirroredStrategy strategy({.num_replicas = n});
  const auto sums = strategy.run([&] {
    const Tensor mine = fill({size}, 0.1f * float(id_here() + 1));
    return get_replica_context()->all_reduce(ReduceOp::Sum, mine);
  });
  float expected = 0.1f;
  for (int r = 1; r < n; ++r) expected += 0.1f * float(r + 1);
  for (const Tensor& sum : sums.values()) {
    const auto values = sum.data<float>();
    CHECK(std::all_of(values.begin(), values.end(), [&](float x) { return x == expected; }));
  }
}

TEST_CASE("update sums the gradients and every replica sees the new value",
          "[strategy][mirrored]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable large(zeros({40'000}), {.name = "large"}), small(Tensor{1.0f, 2.0f});
  const auto seen = strategy.run([&] {
    const float mine = float(id_here() + 1);
    const std::vector<VariableUpdate> updates{{large, {}, fill({40'000}, mine)},
                                              {small, {}, fill({2}, mine)}};
    get_replica_context()->update(updates, false, minus_gradient());
    return std::vector{large.value(), small.value()};
  });
  const float sum = float(n * (n + 1) / 2);
  for (const auto& values : seen.values()) {
    CHECK(values[0].data<float>()[39'999] == -sum);
    CHECK(values[1].to_vector() == std::vector{1 - sum, 2 - sum});
  }
  CHECK(small.impl().component(0).id() == small.impl().component(n - 1).id());  // still shared
}
