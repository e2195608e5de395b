#include <distribute/base/detail/flush_subnormals.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/scope.hpp>

#include <tests/strategy/replica_check.hpp>
#include <tests/support/catch.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace distribute;
using Catch::Contains;

TEST_CASE("without a scope the default strategy is current, in its replica (table 1.0)",
          "[strategy][scope]") {
  CHECK_FALSE(has_strategy());
  CHECK(get_strategy().num_replicas_in_sync() == 1);
  REQUIRE(get_replica_context());
  CHECK(get_replica_context()->replica_id_in_sync_group() == 0);
  CHECK(&get_replica_context()->strategy() == &get_strategy());
  CHECK_FALSE(in_cross_replica_context());
}

TEST_CASE("a scope makes the strategy current and leaves nothing behind (case 1)",
          "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  Strategy* const before = &get_strategy();
  {
    const auto scope = strategy.scope();
    CHECK(&get_strategy() == &strategy);
    CHECK(has_strategy());
    CHECK(in_cross_replica_context());
    CHECK_FALSE(get_replica_context());
  }
  CHECK(&get_strategy() == before);
  CHECK_FALSE(in_cross_replica_context());
  CHECK(variable_creator_stack().empty());
}

TEST_CASE("inside run the strategy is current, in a replica (table 1.0)", "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  strategy.run([&] {
    REPLICA_CHECK(&get_strategy() == &strategy);
    REPLICA_CHECK(has_strategy());
    REPLICA_CHECK(!in_cross_replica_context());
    ReplicaContext* const mine = get_replica_context();
    mine->merge_call([&](Strategy& merged) {
      CHECK(&merged == &strategy);
      CHECK(in_cross_replica_context());
      CHECK(&get_strategy() == &strategy);
    });
    REPLICA_CHECK(get_replica_context() == mine);  // restored (case 8)
  });
}

TEST_CASE("the same strategy nests, another one does not (case 2)", "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  OneDeviceStrategy other;
  const auto outer = strategy.scope();
  {
    const auto inner = strategy.scope();
    CHECK(&get_strategy() == &strategy);
    const Variable v(Tensor{1.0f});
    CHECK(v.impl().num_components() == 2);
  }
  CHECK(&get_strategy() == &strategy);
  CHECK_THROWS_WITH(other.scope(), Contains("Mixing different tf.distribute.Strategy objects"));
  CHECK_THROWS_WITH(other.run([] {}), Contains("Mixing different"));
  const Variable v(Tensor{1.0f});
  CHECK(v.impl().num_components() == 2);
}

TEST_CASE("the default strategy's scope may not stand inside another", "[strategy][scope]") {
  Strategy& plain = get_strategy();
  MirroredStrategy strategy({.num_replicas = 2});
  {
    const auto scope = plain.scope();
    CHECK_FALSE(has_strategy());
    CHECK_FALSE(in_cross_replica_context());  // as in TensorFlow, it changes nothing
  }
  const auto scope = strategy.scope();
  CHECK_THROWS_WITH(plain.scope(), Contains("Must not nest"));
}

TEST_CASE("a scope that ends too early says which nesting is wrong (case 3)", "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  std::optional<Scope> outer;
  outer.emplace(strategy);
  {
    const Scope inner(strategy);
    CHECK_THROWS_WITH(outer->exit(), Contains("scope nesting error"));
  }
  {
    const VariableCreatorScope creator([](const auto& next, const auto& value,
                                          const auto& options) { return next(value, options); });
    CHECK_THROWS_WITH(outer->exit(), Contains("variable creator scope nesting error"));
  }
  outer->exit();
  CHECK_FALSE(has_strategy());
}

TEST_CASE("a strategy can be set, replaced and unset without a scope (case 4)",
          "[strategy][scope]") {
  MirroredStrategy first({.num_replicas = 2}), second({.num_replicas = 3});
  experimental_set_strategy(&first);
  CHECK(&get_strategy() == &first);
  CHECK(in_cross_replica_context());
  CHECK(Variable(Tensor{1.0f}).impl().num_components() == 2);
  experimental_set_strategy(&second);
  CHECK(&get_strategy() == &second);
  {
    const auto scope = second.scope();
    CHECK_THROWS_WITH(experimental_set_strategy(&first), Contains("Must not be called inside a"));
  }
  experimental_set_strategy(nullptr);
  CHECK_FALSE(has_strategy());
  CHECK_FALSE(in_cross_replica_context());
  const auto scope = first.scope();
  CHECK_THROWS_WITH(experimental_set_strategy(&first), Contains("Must not be called inside a"));
}

TEST_CASE("methods of the whole may not be called in a replica", "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto key = Contains("Method requires being in cross-replica context");
  const PerReplica<Tensor> value({Tensor(1.0f), Tensor(2.0f)});
  CHECK_THROWS_WITH(strategy.run([&] { strategy.run([] {}); }), key);
  CHECK_THROWS_WITH(strategy.run([&] { strategy.reduce("SUM", value); }), key);
  CHECK_THROWS_WITH(strategy.run([&] { strategy.extended().reduce_to("SUM", value, "/cpu:0"); }),
                    key);
  CHECK_THROWS_WITH(strategy.run([&] { strategy.gather(value, 0); }), Contains("all_gather"));
  CHECK_THROWS_WITH(strategy.run([&] { const auto scope = strategy.scope(); }), key);
}

TEST_CASE("the default strategy passes through (case 9)", "[strategy][scope]") {
  Strategy& strategy = get_strategy();
  CHECK(strategy.run([](int x) { return x + get_replica_context()->num_replicas_in_sync(); }, 4)
            .values() == std::vector{5});
  const Tensor value{1.0f, 2.0f};
  CHECK(strategy.reduce(ReduceOp::Sum, value).id() == value.id());
  CHECK(strategy.gather(value, 0).id() == value.id());
  CHECK_THROWS_AS(strategy.extended().worker_devices(), FailedPreconditionError);
  CHECK(strategy.cluster_resolver() == nullptr);  // case 11
  CHECK(to_string(strategy) == "default strategy with 1 replica in sync");
}

TEST_CASE("OneDeviceStrategy has one replica and plain variables", "[strategy][scope]") {
  OneDeviceStrategy strategy("/cpu:0");
  const auto scope = strategy.scope();
  const Variable v(Tensor{1.0f});
  CHECK(dynamic_cast<PlainVariable*>(&v.impl()));
  CHECK(strategy.extended().variable_created_in_scope(v));
  CHECK(strategy.extended().worker_devices() ==
        std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
  const auto ids = strategy.run([&] {
    CHECK(&get_strategy() == &strategy);
    v.assign_add(Tensor{2.0f});
    return get_replica_context()->all_reduce(ReduceOp::Sum, v.value());
  });
  CHECK(ids[0].to_vector() == std::vector{3.0f});
  CHECK_THROWS_AS(OneDeviceStrategy(""), InvalidArgumentError);
}

TEST_CASE("replicas take subnormal numbers for zero, the caller does not",
          "[strategy][scope][flush_subnormals]") {
  if (base_internal::kFlushBits == 0) SKIP("this machine has no such mode");
  const auto half_of_tiny = [] {
    volatile float tiny = 1e-40f, half = 0.5f;
    return tiny * half;
  };
  MirroredStrategy mirrored({.num_replicas = 3});
  OneDeviceStrategy one("/cpu:0");
  for (Strategy* strategy : std::initializer_list<Strategy*>{&mirrored, &one, &get_strategy()}) {
    const auto results = strategy->run(half_of_tiny);
    for (const float result : results.values()) CHECK(result == 0);
    CHECK(half_of_tiny() > 0);
  }
}

TEST_CASE("a scope can be moved, and ends once", "[strategy][scope]") {
  MirroredStrategy strategy({.num_replicas = 2});
  std::optional<Scope> kept;
  {
    Scope scope = strategy.scope();
    kept.emplace(std::move(scope));
  }
  CHECK(&get_strategy() == &strategy);
  kept.reset();
  CHECK_FALSE(has_strategy());
  const auto make = [&] { return std::optional(strategy.scope()); };
  const auto again = make();
  CHECK(has_strategy());
}
