#include <distribute/replica/detail/single_replica.hpp>
#include <distribute/replica/merge_call.hpp>
#include <distribute/strategy/strategy.hpp>

#include <tests/support/catch.hpp>

#include <string>

using namespace distribute;

TEST_CASE("merge_call of one replica sees the strategy in cross-replica context (case 8)",
          "[replica][merge_call]") {
  ReplicaContext* const before = get_replica_context();
  const std::string text = before->merge_call(
      [&](Strategy& strategy, const PerReplica<int>& numbers,
          const PerReplica<std::string>& words) {
        CHECK(in_cross_replica_context());
        CHECK(&strategy == &get_strategy());
        return words[0] + std::to_string(numbers[0]);
      },
      7, std::string("x"));
  CHECK(text == "x7");
  CHECK(get_replica_context() == before);
}

TEST_CASE("a PerReplica result is cut into parts, another one handed to all",
          "[replica][merge_call]") {
  ReplicaContext& replica = *get_replica_context();
  const float part =
      replica.merge_call([](Strategy&) { return PerReplica<float>(std::vector<float>{2.5f}); });
  CHECK(part == 2.5f);
  const bool flag = replica.merge_call([](Strategy&) { return PerReplica<bool>({true}); });
  CHECK(flag);
  replica.merge_call([](Strategy&) {});
}

TEST_CASE("an exception in a merge function restores the context", "[replica][merge_call]") {
  ReplicaContext& replica = *get_replica_context();
  CHECK_THROWS_WITH(replica.merge_call([](Strategy&) { throw std::runtime_error("broke"); }),
                    "broke");
  CHECK(get_replica_context() == &replica);
}
