#include <distribute/cluster/detail/partition.hpp>

#include <tests/support/catch.hpp>

#include <string>

using Catch::Matchers::Contains;
using distribute::cluster_internal::Partition;

namespace {

Partition partition_of(const std::set<std::pair<int, int>>& pairs) {
  Partition partition;
  for (const auto& [one, other] : pairs) partition.add(one, other);
  return partition;
}

std::string text_of(const Partition& partition) {
  return partition.text([](int rank) { return "worker " + std::to_string(rank); }, "worker 0", 9);
}

}  // namespace

TEST_CASE("the smaller side of a partition is left out", "[cluster][partition]") {
  CHECK(Partition().smaller_side().empty());
  CHECK((partition_of({{1, 2}}).smaller_side() == std::set<int>{2}));  // alike: the higher one
  CHECK((partition_of({{2, 1}, {1, 3}}).smaller_side() == std::set<int>{1}));
  CHECK((partition_of({{1, 3}, {2, 3}}).smaller_side() == std::set<int>{3}));
  CHECK((partition_of({{1, 3}, {1, 4}, {2, 3}, {2, 4}}).smaller_side() == std::set<int>{3, 4}));
  CHECK((partition_of({{1, 4}, {1, 5}, {2, 4}, {2, 5}, {3, 4}, {3, 5}}).smaller_side() ==
         std::set<int>{4, 5}));
  CHECK((partition_of({{1, 2}, {1, 3}, {2, 3}}).smaller_side() == std::set<int>{2, 3}));
}

TEST_CASE("a partition is told in a sentence with pairs, time and cure", "[cluster][partition]") {
  Partition partition = partition_of({{1, 2}});
  CHECK(text_of(partition) ==
        "worker 1 and worker 2 do not reach each other, though all reach worker 0: nothing came "
        "through for 9 s (DISTRIBUTE_LOST_AFTER); look at routes and firewalls between their "
        "hosts");
  partition.add(3, 2);
  CHECK_THAT(text_of(partition),
             Contains("worker 1 and worker 2, worker 2 and worker 3 do not reach each other"));
  for (int rank = 4; rank < 9; ++rank) partition.add(1, rank);
  CHECK_THAT(text_of(partition), Contains(" and 2 more pairs do not reach each other"));
  partition.clear();
  CHECK(partition.empty());
}
