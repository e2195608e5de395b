#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/answer_table.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/logical_devices.hpp>

#include <array>
#include <map>
#include <sstream>
#include <tuple>
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
  CHECK(Tensor(strategy.extended().reduce_to("MEAN", value, "/cpu:0")).item<float>() == 2);
  const auto both =
      strategy.extended().batch_reduce_to("mean", {{value, "/cpu:0"}, {value, value}});
  CHECK(both.at(1)[1].item<float>() == 2);
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
  CHECK(strategy.extended().reduce_to("MEAN", mirrored, "/cpu:0")[0].item<float>() == 5);
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
  CHECK(make({}) == 1);  // as TensorFlow 2.21 takes []: all devices
  CHECK(MirroredStrategy({}).num_replicas_in_sync() == 1);
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

namespace {

DType dtype_named(const std::string& name) {
  for (const DType dtype :
       {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64, DType::UInt8})
    if (name == name_of(dtype)) return dtype;
  throw InvalidArgumentError(name);
}

/// "1,2" -> a vector of the dtype.
Tensor vector_of(const std::string& numbers, DType dtype) {
  Values values;
  std::istringstream in(numbers);
  for (std::string number; std::getline(in, number, ',');) values.push_back(std::stof(number));
  return cast(Tensor(Shape{int64_t(values.size())}, values), dtype);
}

/// "1,2;4" -> one vector for each replica.
std::vector<Tensor> vectors_of(const std::string& text, DType dtype) {
  std::vector<Tensor> vectors;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ';');) vectors.push_back(vector_of(one, dtype));
  return vectors;
}

}  // namespace

// tests/data/strategy/tensorflow_answers.py. TensorFlow's mean of integers is float64 (of uint8
// float32); there is no float64 here, and it is float32.
TEST_CASE("reductions give what TensorFlow gives, for every dtype", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  for (const auto& answer : distribute_test::read_answers("strategy/reductions.txt", 132)) {
    INFO(answer.line);
    const DType dtype = dtype_named(answer.words[0]);
    const std::string& op = answer.words[1];
    const ReduceAxis axis = answer.words[2] == "0" ? ReduceAxis(0) : ReduceAxis();
    const std::vector<Tensor> values = vectors_of(answer.words[3], dtype);
    const ReduceValue value =
        values.size() == 1 ? ReduceValue(values[0]) : ReduceValue(PerReplica<Tensor>(values));
    if (answer.is_error()) {
      CHECK_THROWS_AS(strategy.reduce(op, value, axis), InvalidArgumentError);
      continue;
    }
    const Tensor result = strategy.reduce(op, value, axis);
    const std::string& theirs = answer.answer[0];
    CHECK(name_of(result.dtype()) == (theirs == "float64" ? "float32" : theirs));
    const Values ours = result.to_vector();
    REQUIRE(ours.size() == answer.answer.size() - 1);
    for (size_t i = 0; i < ours.size(); ++i)
      CHECK(ours[i] == Approx(std::stof(answer.answer[i + 1])).epsilon(1e-7));
  }
}

TEST_CASE("the mean of integers is no integer, in replicas either", "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});  // TensorFlow 2.21: 1.5
  const auto means = strategy.run(
      [] { return here().all_reduce(ReduceOp::Mean, Tensor(int32_t(id_here() + 1))); });
  CHECK(means[1].dtype() == DType::Float32);
  CHECK(means[1].item<float>() == 1.5f);
  const PerReplica<Tensor> large({Tensor(int64_t{1} << 40), Tensor((int64_t{1} << 40) + 2)});
  CHECK(strategy.reduce("MEAN", large).item<float>() == float(int64_t{1} << 40));
}

namespace {
struct StepResult {
  Tensor loss;
  std::map<std::string, Tensor> logs;
  std::tuple<Tensor, std::vector<Tensor>> more;
};
}  // namespace

// As TensorFlow 2.21 reduces {"loss": ..., "n": (..., [...])}: 3, (3, [7]).
TEST_CASE("what run gives can be reduced as a whole: maps, tuples, lists, aggregates",
          "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto results = strategy.run([] {
    const float id = float(id_here());
    return StepResult{
        Tensor(id + 1), {{"accuracy", Tensor(id)}}, {Tensor(id + 1), {Tensor(id + 3)}}};
  });
  const StepResult sum = strategy.reduce("SUM", results);
  CHECK(sum.loss.item<float>() == 3);
  CHECK(sum.logs.at("accuracy").item<float>() == 1);
  CHECK(std::get<0>(sum.more).item<float>() == 3);
  CHECK(std::get<1>(sum.more).at(0).item<float>() == 7);
  CHECK(strategy.reduce("MEAN", results.map(&StepResult::loss)).item<float>() == 1.5f);
  CHECK(results.values()[1].loss.item<float>() == 2);  // not changed

  const auto sums = strategy.run([] {
    return here().all_reduce(ReduceOp::Sum, std::map<std::string, Tensor>{{"id", Tensor(1.0f)}});
  });
  CHECK(sums[0].at("id").item<float>() == 2);
  const auto rows = strategy.run(
      [] { return std::pair(fill({id_here() + 1}, 1.0f), std::array{Tensor{float(id_here())}}); });
  const auto whole = strategy.gather(rows, 0);
  CHECK(whole.first.shape() == Shape{3});
  CHECK(whole.second[0].to_vector() == Values{0, 1});
}

TEST_CASE("structures that differ between replicas are told apart by their names",
          "[strategy][reduce]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto maps = strategy.run([] {
    return std::map<std::string, Tensor>{{id_here() ? "other" : "loss", Tensor(1.0f)}};
  });
  CHECK_THROWS_WITH(strategy.reduce("SUM", maps),
                    Contains("replica 0 has ['loss'], replica 1 has ['other']"));
}

TEST_CASE("a result is on the devices of its destinations", "[strategy][reduce]") {
  const LogicalDevices devices(3);
  MirroredStrategy strategy({.num_replicas = 2});
  const PerReplica<Tensor> value({Tensor{1.0f}, Tensor{2.0f}});
  // TensorFlow 2.21: '/job:localhost/replica:0/task:0/device:CPU:1', 3.
  const Mirrored<Tensor> one = strategy.extended().reduce_to("SUM", value, "/cpu:1");
  REQUIRE(one.size() == 1);
  CHECK(one[0].device() == Device{DeviceType::Cpu, 1});
  CHECK(one[0].to_vector() == Values{3});
  // ... and a Mirrored of two values for a variable or a PerReplica.
  const auto scope = strategy.scope();
  const Variable variable(Tensor{1.0f});
  CHECK(strategy.extended().reduce_to("SUM", value, variable).size() == 2);
  const PerReplica<Tensor> apart({value[0].to({DeviceType::Cpu, 2}), value[1]});
  CHECK(strategy.extended().reduce_to("SUM", value, apart)[0].device().index == 2);
  CHECK_NOTHROW(strategy.extended().reduce_to("SUM", value, "/job:localhost/task:0/cpu:0"));
  CHECK_THROWS_WITH(strategy.extended().reduce_to("SUM", value, "/job:worker/task:1/cpu:0"),
                    Contains("another process"));
}

TEST_CASE("ReductionToOneDevice adds on the device that it was given", "[strategy][reduce]") {
  const LogicalDevices devices(3);
  const std::vector<Tensor> values(3, Tensor{1.0f});
  const auto ops = std::make_shared<ReductionToOneDevice>("/cpu:1");
  const Tensor sum = ops->reduce(ReduceOp::Sum, values);
  CHECK(sum.device() == Device{DeviceType::Cpu, 1});
  CHECK(sum.to_vector() == Values{3});
  CHECK_FALSE(ops->sums_in_replica_order());  // replicas would add elsewhere
  // TensorFlow 2.21: strategy.reduce gives 3 on CPU:0 with this class.
  MirroredStrategy strategy({.num_replicas = 3, .cross_device_ops = ops});
  const Tensor reduced = strategy.reduce("SUM", PerReplica<Tensor>(values));
  CHECK(reduced.device() == Device{DeviceType::Cpu, 0});
  CHECK(reduced.to_vector() == Values{3});
  const ReductionToOneDevice own("/cpu:2", [](const std::vector<Tensor>& all) {
    CHECK(all[0].device().index == 2);
    return all[0];
  });
  CHECK_FALSE(own.sums_in_replica_order());
}
