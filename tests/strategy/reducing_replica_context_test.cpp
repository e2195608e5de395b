#include <distribute/strategy/detail/reducing_replica_context.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

using namespace distribute;
using Catch::Contains;

namespace {

/// The largest value instead of the sum, so that its work shows.
class Largest final : public CrossDeviceOps {
 public:
  int batches = 0;

 protected:
  Tensor reduce_implementation(ReduceOp, const std::vector<Tensor>& per_replica) override {
    std::vector<float> best = per_replica[0].to_vector();
    for (const Tensor& one : per_replica) {
      const auto values = one.to_vector();
      for (size_t i = 0; i < best.size(); ++i) best[i] = std::max(best[i], values[i]);
    }
    return {per_replica[0].shape(), best};
  }
  std::vector<Tensor> batch_reduce_implementation(
      ReduceOp op, const std::vector<std::vector<Tensor>>& values) override {
    ++batches;
    return CrossDeviceOps::batch_reduce_implementation(op, values);
  }
};

float id_here() { return float(get_replica_context()->replica_id_in_sync_group()); }

}  // namespace

TEST_CASE("replicas' sums are the chosen ops' work", "[strategy][reducing_replica_context]") {
  const auto ops = std::make_shared<Largest>();
  MirroredStrategy strategy(MirroredOptions{.num_replicas = 3, .cross_device_ops = ops});
  const auto results = strategy.run([] {
    return get_replica_context()->all_reduce(
        ReduceOp::Sum, std::vector{Tensor(id_here()), Tensor{-id_here(), 5.0f}});
  });
  for (const auto& result : results.values()) {
    CHECK(result[0].item<float>() == 2);
    CHECK(result[1].to_vector() == std::vector<float>{0, 5});
  }
  CHECK(ops->batches == 1);  // one call for all replicas and values
  CHECK(strategy.reduce("SUM", PerReplica<Tensor>({Tensor(1.0f), Tensor(7.0f), Tensor(3.0f)}))
            .item<float>() == 7);
}

TEST_CASE("optimizers get the chosen ops' gradients", "[strategy][reducing_replica_context]") {
  const auto ops = std::make_shared<Largest>();
  MirroredStrategy strategy(MirroredOptions{.num_replicas = 3, .cross_device_ops = ops});
  const auto scope = strategy.scope();
  const Variable v(Tensor{0.0f, 0.0f}, {.name = "v"});
  optim::SGD optimizer({.learning_rate = 1.0f});
  strategy.run([&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(v.value() * Tensor{id_here(), 1.0f});
    return optimizer.minimize(loss, {v}, tape);
  });
  for (int r = 0; r < 3; ++r)
    CHECK(v.impl().component(r).to_vector() == std::vector<float>{-2, -1});
  CHECK(ops->batches == 1);
}

TEST_CASE("a gradient flows through the chosen ops", "[strategy][reducing_replica_context]") {
  MirroredStrategy strategy(
      MirroredOptions{.num_replicas = 3, .cross_device_ops = std::make_shared<Largest>()});
  const auto gradients = strategy.run([] {
    const Tensor x(id_here());
    GradientTape tape;
    tape.watch(x);
    const Tensor y = get_replica_context()->all_reduce(ReduceOp::Sum, x) * (id_here() + 1);
    return tape.gradient(y, x).item<float>();
  });
  CHECK(gradients.values() == std::vector<float>{3, 3, 3});
}

TEST_CASE("replicas that reduce different things get an error",
          "[strategy][reducing_replica_context]") {
  MirroredStrategy strategy(
      MirroredOptions{.num_replicas = 3, .cross_device_ops = std::make_shared<Largest>()});
  CHECK_THROWS_WITH(strategy.run([] {
    const std::vector<Tensor> values(size_t(id_here()) + 1, Tensor(1.0f));
    return get_replica_context()->all_reduce(ReduceOp::Sum, values);
  }),
                    Contains("replicas disagree"));
}

TEST_CASE("ops that add in replica order leave the work to the replicas",
          "[strategy][reducing_replica_context]") {
  CHECK(ReductionToOneDevice().sums_in_replica_order());
  CHECK(HierarchicalCopyAllReduce(2).sums_in_replica_order());
  const auto twice = [](const std::vector<Tensor>& values) { return values[0] * 2.0f; };
  const auto ops = std::make_shared<ReductionToOneDevice>("", twice);
  CHECK_FALSE(ops->sums_in_replica_order());
  MirroredStrategy strategy(MirroredOptions{.num_replicas = 3, .cross_device_ops = ops});
  const auto results = strategy.run([] {
    return get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(id_here() + 4)).item<float>();
  });
  CHECK(results.values() == std::vector<float>{8, 8, 8});
}
