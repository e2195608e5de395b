#include <distribute/replica/detail/single_replica.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/values.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_cuda.hpp>

#include <optional>
#include <vector>

using namespace distribute;
using Catch::Contains;
using Values = std::vector<float>;

namespace {

/// Weights minus gradient; the slot counts the calls.
void step(size_t, float* weights, float* const* slots, const float* gradient, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    weights[i] -= gradient[i];
    slots[0][i] += 1;
  }
}

}  // namespace

TEST_CASE("the default replica reduces and gathers alone", "[replica][replica_context]") {
  ReplicaContext& replica = *get_replica_context();
  CHECK(replica.num_replicas_in_sync() == 1);
  CHECK(replica.local_replica_id() == 0);
  const Tensor x{1.0f, 2.0f};
  CHECK(replica.all_reduce(ReduceOp::Sum, x).to_vector() == Values{1, 2});
  CHECK(replica.all_reduce("SUM", x).to_vector() == Values{1, 2});
  CHECK(replica.all_gather(x, 0).to_vector() == Values{1, 2});
}

TEST_CASE("names of reductions are read in any case (case 7)", "[replica][reduce_op]") {
  CHECK(reduce_op_from_string("Sum") == ReduceOp::Sum);
  CHECK(reduce_op_from_string("mean") == ReduceOp::Mean);
  CHECK_THROWS_AS(reduce_op_from_string("max"), InvalidArgumentError);
  CHECK(reduce_op_from_aggregation(VariableAggregation::Mean) == ReduceOp::Mean);
  CHECK_THROWS_WITH(reduce_op_from_aggregation(VariableAggregation::None),
                    Contains("Could not convert from") && Contains("NONE"));
  CHECK_THROWS_AS(reduce_op_from_aggregation(VariableAggregation::OnlyFirstReplica),
                  InvalidArgumentError);
}

TEST_CASE("update touches every element of weights and slots once", "[replica][replica_context]") {
  const Variable large(ones({50'000})), small(Tensor{1.0f});
  const Variable large_slot(zeros({50'000})), small_slot(Tensor{0.0f});
  const Tensor before = large.value();
  const std::vector<VariableUpdate> updates{{large, {large_slot}, fill({50'000}, 0.5f)},
                                            {small, {small_slot}, Tensor{0.25f}}};
  get_replica_context()->update(updates, false, step);
  for (float x : large.value().to_vector()) CHECK((x == 0.5f));
  for (float x : large_slot.value().to_vector()) CHECK((x == 1));
  CHECK(small.value().to_vector() == Values{0.75f});
  CHECK(before.to_vector() == Values(50'000, 1));  // a value once read does not change
}

TEST_CASE("update sums rows that a sparse gradient names twice", "[replica][replica_context]") {
  const Variable table(zeros({3, 2})), slot(zeros({3, 2}));
  const Tensor indices{int64_t{2}, int64_t{0}, int64_t{2}};
  const Tensor gradient = to_tensor(IndexedSlices{ones({3, 2}), indices, {3, 2}});
  const VariableUpdate update{table, {slot}, gradient};
  get_replica_context()->update(std::span(&update, 1), false, step);
  CHECK(table.value().to_vector() == Values{-1, -1, 0, 0, -2, -2});
  CHECK(slot.value().to_vector() == Values{1, 1, 0, 0, 1, 1});
}

TEST_CASE("an update that finds the GPU full keeps variables and slots", "[replica]") {
  const distribute::testing::FakeCuda fake({.memory_bytes = 5 << 20});
  const Device gpu{DeviceType::Gpu, 0};
  const auto on_gpu = [&](float value) { return fill({1 << 18}, value).to(gpu); };  // 1 MiB
  const Variable first(on_gpu(1)), second(on_gpu(2)), slot(on_gpu(3));
  const Tensor read = second.value(), gradient = on_gpu(0.5f);  // a second copy has no room
  const auto update = [&](const VariableUpdate& one) {
    const replica_internal::UpdateTarget target(one, 0, 1);
    return target.size();
  };
  std::optional<Tensor> last = on_gpu(4);
  CHECK_THROWS_AS(update({second, {slot}, gradient}), ResourceExhaustedError);
  CHECK_THROWS_AS(update({first, {slot, second}, gradient}), ResourceExhaustedError);
  CHECK(first.value().to_vector().at(0) == 1);
  CHECK(second.value().to_vector().at(0) == 2);
  CHECK(slot.value().to_vector().at(0) == 3);
  last.reset();
  CHECK(update({first, {slot, second}, gradient}) == 1 << 18);
  CHECK(second.value().to_vector().at(0) == 2);
}

TEST_CASE("update refuses what does not fit and loses nothing", "[replica][replica_context]") {
  const Variable v(Tensor{1.0f, 2.0f}), slot(Tensor{0.0f, 0.0f}), integer(Tensor(int64_t{1}));
  const auto update = [](const VariableUpdate& one) {
    get_replica_context()->update(std::span(&one, 1), false, step);
  };
  CHECK_THROWS_WITH(update({v, {slot}, Tensor{1.0f}}), Contains("[1]") && Contains("[2]"));
  CHECK_THROWS_AS(update({integer, {}, Tensor(int64_t{1})}), InvalidArgumentError);
  CHECK_THROWS_AS(update({v, {integer}, Tensor{1.0f, 1.0f}}), InvalidArgumentError);
  CHECK(v.value().to_vector() == Values{1, 2});
}
