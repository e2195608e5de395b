#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>

#include <map>
#include <vector>

using namespace distribute;
using Catch::Contains;
using Values = std::vector<float>;

namespace {

ReplicaContext& here() { return *get_replica_context(); }
int id_here() { return here().replica_id_in_sync_group(); }

}  // namespace

TEST_CASE("a tensor that is not distributed reduces over its axes alone (cases 5, 6)",
          "[strategy][reduce]") {
  Strategy& strategy = get_strategy();
  const Tensor x(Shape{2, 2}, Values{1, 2, 3, 4});
  CHECK(strategy.reduce(ReduceOp::Mean, x).to_vector() == Values{1, 2, 3, 4});
  CHECK(strategy.reduce(ReduceOp::Mean, x, 0).to_vector() == Values{2, 3});
  CHECK(strategy.reduce(ReduceOp::Mean, x, {0, 1}).to_vector() == Values{2.5f});
  CHECK(strategy.reduce(ReduceOp::Sum, x, 0).to_vector() == Values{4, 6});
  CHECK(strategy.reduce(ReduceOp::Sum, x, {0, 1}).to_vector() == Values{10});
}

TEST_CASE("operations may be given by name (case 7)", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const PerReplica<Tensor> value({Tensor(1.0f), Tensor(3.0f)});
  for (const char* name : {"SUM", "sum", "Sum"})
    CHECK(strategy.reduce(name, value).item<float>() == 4);
  CHECK(strategy.extended().reduce_to("MEAN", value, "/cpu:0").item<float>() == 2);
  const auto both =
      strategy.extended().batch_reduce_to("mean", {{value, "/cpu:0"}, {value, value}});
  CHECK(both.at(1).item<float>() == 2);
  CHECK_THROWS_AS(strategy.reduce("max", value), InvalidArgumentError);
  CHECK_THROWS_AS(strategy.extended().reduce_to("SUM", value, ""), InvalidArgumentError);
}

TEST_CASE("a mean over the batch axis counts the elements there are (case 16)",
          "[strategy][reduce]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto losses = strategy.run([] { return fill({id_here() + 1}, float(id_here() + 1)); });
  float sum = 0, count = 0;
  for (int r = 1; r <= n; ++r) {
    sum += float(r * r);
    count += float(r);
  }
  CHECK(strategy.reduce("MEAN", losses, 0).item<float>() == Approx(sum / count));
  CHECK(strategy.reduce("SUM", losses, -1).item<float>() == sum);
  CHECK_THROWS_AS(strategy.reduce("SUM", losses, 1), InvalidArgumentError);
  CHECK_THROWS_AS(strategy.reduce("SUM", losses, -2), InvalidArgumentError);
}

TEST_CASE("an empty part does not disturb a mean", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const PerReplica<Tensor> losses({Tensor{2.0f, 4.0f}, zeros({0})});
  CHECK(strategy.reduce("MEAN", losses, 0).item<float>() == 3);
}

TEST_CASE("lists are reduced one by one (cases 13, 15)", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto lists = strategy.run([] {
    return std::vector{Tensor(float(id_here())), Tensor(1.0f)};
  });
  const auto sums = strategy.reduce("SUM", lists);
  CHECK((sums[0].item<float>() == 3 && sums[1].item<float>() == 3));
  const auto uneven =
      strategy.run([] { return std::vector<Tensor>(size_t(id_here()), Tensor(1.0f)); });
  CHECK_THROWS_AS(strategy.reduce("SUM", uneven), InvalidArgumentError);
}

TEST_CASE("a value that is the same everywhere has a mean but no sum", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CHECK(strategy.reduce("MEAN", Tensor(5.0f)).item<float>() == 5);
  CHECK(strategy.reduce("SUM", Tensor(0.0f)).item<float>() == 0);
  CHECK_THROWS_WITH(strategy.reduce("SUM", Tensor(5.0f)),
                    Contains("cannot be reduced with the given reduce op"));
  const Mirrored<Tensor> mirrored({Tensor(5.0f), Tensor(5.0f)});
  CHECK(strategy.extended().reduce_to("MEAN", mirrored, "/cpu:0").item<float>() == 5);
  CHECK_THROWS_AS(strategy.extended().reduce_to("SUM", mirrored, "/cpu:0"), InvalidArgumentError);
}

TEST_CASE("gather joins unequal parts (case 26)", "[strategy][reduce]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto parts = strategy.run([] { return fill({id_here() + 1, 1}, float(id_here())); });
  const Tensor whole = strategy.gather(parts, 0);
  CHECK(whole.shape() == Shape{n * (n + 1) / 2, 1});
  CHECK(whole.to_vector().back() == float(n - 1));
  const auto wide = strategy.run([] { return fill({1, id_here() + 1}, 1.0f); });
  CHECK(strategy.gather(wide, 1).shape() == Shape{1, n * (n + 1) / 2});
}

TEST_CASE("gather refuses what does not fit (case 26)", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto gather = [&](const Tensor& a, const Tensor& b, int axis) {
    return strategy.gather(PerReplica<Tensor>({a, b}), axis);
  };
  CHECK_THROWS_WITH(gather(ones({1, 1}), ones({2, 2}), 0),
                    Contains("Dimensions of inputs should match"));
  CHECK_THROWS_AS(gather(ones({1, 1}), ones({1}), 0), InvalidArgumentError);
  CHECK_THROWS_AS(gather(Tensor(1.0f), Tensor(1.0f), 0), InvalidArgumentError);
  CHECK_THROWS_AS(gather(ones({1}), ones({1}), -1), InvalidArgumentError);
  const Tensor sparse = to_tensor(IndexedSlices{ones({1, 2}), Tensor{int64_t{0}}, {3, 2}});
  CHECK_THROWS_AS(gather(sparse, sparse, 0), UnimplementedError);
}

TEST_CASE("the gradient of all_reduce is all_reduce", "[strategy][reduce]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto gradients = strategy.run([] {
    const Tensor x{1.0f, 2.0f};
    GradientTape tape;
    tape.watch(x);
    const Tensor y = here().all_reduce(ReduceOp::Sum, x);
    return tape.gradient(y * float(id_here() + 1), x);
  });
  const float expected = float(n * (n + 1)) / 2;
  for (const Tensor& gradient : gradients.values())
    CHECK(gradient.to_vector() == Values{expected, expected});
}

TEST_CASE("the gradient of all_gather is each replica's part of the sum (case 27)",
          "[strategy][reduce]") {
  const int n = GENERATE(1, 2, 3);
  MirroredStrategy strategy({.num_replicas = n});
  const auto gradients = strategy.run([&] {
    const Tensor x = fill({1, id_here() + 1}, 2.0f);
    GradientTape tape;
    tape.watch(x);
    const Tensor all = here().all_gather(x, 1);
    return tape.gradient(all * all, x);
  });
  for (int r = 0; r < n; ++r) {
    CHECK(gradients[size_t(r)].shape() == Shape{1, r + 1});
    CHECK(gradients[size_t(r)].to_vector() == Values(size_t(r + 1), 4.0f * float(n)));
  }
}

TEST_CASE("several tensors of several dtypes are reduced at once (case 23)", "[strategy][reduce]") {
  const int n = GENERATE(2, 3);
  MirroredStrategy strategy({.num_replicas = n});
  const auto results = strategy.run([&] {
    const std::vector<Tensor> values{
        fill({40'000}, float(id_here() + 1)), Tensor(int64_t{id_here()}), Tensor(bfloat16(2.0f)),
        to_tensor(IndexedSlices{ones({1, 2}), Tensor{int64_t{id_here()}}, {4, 2}})};
    return here().all_reduce(ReduceOp::Sum, values);
  });
  for (const auto& sums : results.values()) {
    CHECK(sums[0].data<float>()[39'999] == float(n * (n + 1)) / 2);
    CHECK(sums[1].item<int64_t>() == n * (n - 1) / 2);
    CHECK(sums[2].item<float>() == 2.0f * float(n));
    REQUIRE(is_indexed_slices(sums[3]));
    CHECK(indexed_slices(sums[3]).indices.num_elements() == n);
  }
}

TEST_CASE("cross-device ops sum and average dense and sparse values (cases 50, 51)",
          "[strategy][reduce]") {
  const auto make = [](int which) -> std::shared_ptr<CrossDeviceOps> {
    if (which == 0) return std::make_shared<ReductionToOneDevice>();
    return std::make_shared<HierarchicalCopyAllReduce>(which);
  };
  const auto ops = make(GENERATE(0, 1, 2));
  for (int n : {1, 2, 3, 4}) {
    std::vector<Tensor> dense, sparse;
    for (int r = 0; r < n; ++r) {
      dense.push_back(Tensor{float(r), 1.0f});
      sparse.push_back(to_tensor(IndexedSlices{
          ones({r + 1, 2}), Tensor(Shape{r + 1}, std::vector<int64_t>(size_t(r + 1), r)), {4, 2}}));
    }
    CHECK(ops->reduce(ReduceOp::Sum, dense).to_vector() ==
          Values{float(n * (n - 1)) / 2, float(n)});
    CHECK(ops->batch_reduce(ReduceOp::Mean, {dense}).at(0).to_vector() ==
          Values{float(n - 1) / 2, 1});
    const Tensor joined = ops->reduce(ReduceOp::Sum, sparse);
    CHECK(indexed_slices(joined).values.shape()[0] == n * (n + 1) / 2);
    const Tensor mean = ops->reduce(ReduceOp::Mean, sparse);
    CHECK(mean.row_major().data<float>()[0] == Approx(1.0f / float(n)));
  }
  CHECK_THROWS_AS(HierarchicalCopyAllReduce(-1), InvalidArgumentError);
  CHECK_THROWS_AS(ops->reduce(ReduceOp::Sum, {}), InvalidArgumentError);
}

TEST_CASE("a strategy uses the cross-device ops it was given", "[strategy][reduce]") {
  struct Counting final : CrossDeviceOps {
    int calls = 0;
    Tensor reduce_implementation(ReduceOp, const std::vector<Tensor>& values) override {
      ++calls;
      return values.back();
    }
  };
  const auto ops = std::make_shared<Counting>();
  MirroredStrategy strategy({.num_replicas = 2, .cross_device_ops = ops});
  CHECK(strategy.reduce("SUM", PerReplica<Tensor>({Tensor(1.0f), Tensor(9.0f)})).item<float>() ==
        9);
  CHECK(ops->calls == 1);
}

TEST_CASE("local results keep order and structure (case 22)", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto ids = strategy.run([] { return id_here(); });
  CHECK(strategy.experimental_local_results(ids) == std::vector<int>{0, 1, 2});
  CHECK(strategy.experimental_local_results(7) == std::vector<int>{7});
  const auto maps = strategy.run([] { return std::map<std::string, int>{{"id", id_here()}}; });
  CHECK(strategy.experimental_local_results(maps).at(2).at("id") == 2);
}

TEST_CASE("values can be made per replica by a function (case 25)", "[strategy][reduce]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto values =
      strategy.experimental_distribute_values_from_function([](const ValueContext& context) {
        return 10 * context.num_replicas_in_sync + context.replica_id_in_sync_group;
      });
  for (int r = 0; r < n; ++r) CHECK(values[size_t(r)] == 10 * n + r);
  const auto sums = strategy.run([](int own, int same) { return own + same; }, values, 100);
  CHECK(sums[size_t(n - 1)] == 10 * n + n - 1 + 100);
}

TEST_CASE("device lists are checked", "[strategy][reduce]") {
  using Names = std::vector<std::string>;
  const auto make = [](const Names& names) {
    return MirroredStrategy(names).num_replicas_in_sync();
  };
  CHECK(make({"/cpu:0", "/device:CPU:1"}) == 2);
  CHECK(MirroredStrategy({"/cpu:0", "/cpu:1", "cpu:2"}).num_replicas_in_sync() == 3);
  CHECK_THROWS_WITH(make({}), Contains("at least one device"));
  CHECK_THROWS_WITH(make({"/cpu:0", "/device:CPU:0"}), Contains("No duplicates allowed"));
  CHECK_THROWS_AS(make({"/job:worker/task:0/cpu:0", "/job:worker/task:1/cpu:0"}),
                  FailedPreconditionError);
  CHECK_THROWS_AS(make({"/job:worker/task:0/cpu:0", "/cpu:0"}), InvalidArgumentError);
  CHECK_THROWS_AS(make({"/job:worker/cpu:0"}), InvalidArgumentError);
  CHECK_THROWS_AS(make({"/gpu:99"}), InvalidArgumentError);
  CHECK_THROWS_AS(make({"nonsense"}), InvalidArgumentError);
  CHECK(to_string(MirroredStrategy({.num_replicas = 2})) ==
        "MirroredStrategy with 2 replicas in sync on /device:CPU:0, /device:CPU:1");  // case 10
}
