#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/strategy/replica_check.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
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

// TensorFlow 2.21: IndexError for 2 and 4 replicas in both directions, "Mixing different
// tf.distribute.Strategy objects" for 2 and 2.
TEST_CASE("an optimizer step on another strategy's variables is an error in every direction",
          "[strategy][mirrored]") {
  const auto [made_for, run_by] = GENERATE(std::pair(2, 4), std::pair(4, 2), std::pair(2, 2));
  MirroredStrategy maker({.num_replicas = made_for}), runner({.num_replicas = run_by});
  Variable v;
  {
    const auto scope = maker.scope();
    v = Variable(Tensor{1.0f}, {.name = "v"});
  }
  std::unique_ptr<optim::Adam> optimizer;
  {
    const auto scope = runner.scope();
    optimizer.reset(new optim::Adam({}));
  }
  const auto step = [&] { optimizer->apply_gradients({Tensor{1.0f}}, {v}); };
  CHECK_THROWS_WITH(runner.run(step), Catch::Contains("'v'"));
  CHECK(v.value().to_vector() == std::vector<float>{1});
}

namespace {

/// Variables 'a' and 'b', of which replica 0 alone has a gradient of the second.
struct UnevenStep {
  std::vector<Variable> variables{Variable(Tensor{1.0f}, {.name = "a"}),
                                  Variable(Tensor{1.0f}, {.name = "b"})};
  optim::SGD sgd{{.learning_rate = 1.0, .momentum = 0.5}};

  void take(optim::ApplyOptions options, bool everywhere = false) {
    const bool both = everywhere || id_here() == 0;
    sgd.apply_gradients({Tensor{1.0f}, both ? Tensor{3.0f} : Tensor()}, variables, options);
  }
};

}  // namespace

// TensorFlow 2.21: AssertionError "Values to regroup had different lengths".
TEST_CASE("a gradient of one replica alone is an error that names variable and cure",
          "[strategy][mirrored]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  UnevenStep step;
  const bool with_slots = GENERATE(false, true);
  if (with_slots) strategy.run([&] { step.take({}, true); });
  CHECK_THROWS_WITH(strategy.run([&] { step.take({}); }),
                    Catch::Contains("replica 1 has no gradient of 'b'") &&
                        Catch::Contains("find_unused_parameters"));
  strategy.run([&] { step.take({}, true); });  // the note of the failed step is gone
  CHECK_THROWS_WITH(strategy.run([&] {
    if (id_here() == 0) return get_replica_context()->merge_call([](Strategy&) {});
    get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f));
  }),
                    !Catch::Contains("no gradient"));
}

TEST_CASE("find_unused_parameters puts zeros where a replica has no gradient",
          "[strategy][mirrored]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  UnevenStep step;
  strategy.run([&] { step.take({.find_unused_parameters = true}); });
  CHECK(step.variables[0].value().to_vector() == std::vector<float>{-1});  // 1 - (1 + 1)
  CHECK(step.variables[1].value().to_vector() == std::vector<float>{-2});  // 1 - (3 + 0)
  const auto sums = strategy.run([&] {
    std::vector<Tensor> reduced;
    step.take({.reduced_gradients = &reduced, .find_unused_parameters = true});
    return reduced;
  });
  CHECK(sums[1].at(0).to_vector() == std::vector<float>{2});
  CHECK(sums[1].at(1).to_vector() == std::vector<float>{3});
  const std::vector<float> before = step.variables[1].value().to_vector();
  strategy.run([&] {  // a variable without a gradient keeps its value, momentum or not
    step.sgd.apply_gradients({Tensor{1.0f}, Tensor()}, step.variables,
                             {.find_unused_parameters = true});
  });
  CHECK(step.variables[1].value().to_vector() == before);
}

TEST_CASE("a number of replicas that makes no sense names strategy and cure",
          "[strategy][mirrored]") {
  CHECK_THROWS_WITH(MirroredStrategy({.num_replicas = -1}),
                    Catch::Contains("MirroredStrategy: num_replicas is -1; give"));
  CHECK_THROWS_WITH(MirroredStrategy<CpuDevice>({.num_replicas = -2}),
                    Catch::Contains("MirroredStrategy: num_replicas is -2; give"));
  CHECK_THROWS_WITH(CentralStorageStrategy({.num_replicas = -1}),
                    Catch::Contains("CentralStorageStrategy: num_replicas is -1; give"));
}

TEST_CASE("nothing about GPUs is said where CPU devices are asked for", "[strategy][mirrored]") {
  CaughtLog log;
  MirroredStrategy by_name({"/cpu:0", "/cpu:1"});
  MirroredStrategy by_option(MirroredOptions{.devices = {"/cpu:0"}});
  MirroredStrategy<CpuDevice> by_kind({.num_replicas = 2});
  CentralStorageStrategy central({.compute_devices = {"/cpu:0"}});
  CHECK(log.lines.empty());
}
