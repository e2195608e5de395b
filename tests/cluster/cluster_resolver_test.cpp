#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

SimpleClusterResolver simple(ClusterSpec spec, SimpleClusterResolverOptions options = {}) {
  return SimpleClusterResolver(std::move(spec), std::move(options));
}

const ClusterSpec kBase{{"ps", {"ps0:2222", "ps1:2222"}},
                        {"worker", {"worker0:2222", "worker1:2222", "worker2:2222"}}};

/// Answers from the base class alone.
class OnlySpec : public ClusterResolver {
 public:
  ClusterSpec cluster_spec() const override { return kBase; }
};

}  // namespace

TEST_CASE("the base resolver knows no task until it is set", "[cluster][cluster_resolver]") {
  OnlySpec resolver;
  CHECK_FALSE(resolver.task_type());
  CHECK_FALSE(resolver.task_id());
  CHECK_FALSE(resolver.rpc_layer());
  CHECK_FALSE(resolver.world_size());
  CHECK(resolver.environment() == "");
  CHECK(resolver.master() == "");
  CHECK(resolver.num_accelerators().empty());  // CPUs do not count
  resolver.set_task_type("worker");
  resolver.set_task_id(2);
  CHECK(resolver.master() == "worker2:2222");
  CHECK(resolver.master("ps", 1, "grpc") == "grpc://ps1:2222");
}

TEST_CASE("a simple resolver answers what it was given", "[cluster][cluster_resolver]") {
  const auto resolver = simple(kBase, {.master = "master",
                                       .task_type = TaskType("ps"),
                                       .task_id = 1,
                                       .environment = "google",
                                       .num_accelerators = {{"GPU", 8}},
                                       .rpc_layer = "grpc"});
  CHECK(resolver.cluster_spec() == kBase);
  CHECK(resolver.task_type() == TaskType::ParameterServer);
  CHECK(resolver.task_id() == 1);
  CHECK(resolver.environment() == "google");
  CHECK(resolver.num_accelerators() == std::map<std::string, int>{{"GPU", 8}});
  CHECK(resolver.master() == "grpc://master");
  CHECK(simple(kBase).master() == "");
  CHECK(simple(kBase).num_accelerators().empty());
}

TEST_CASE("type and id together choose the master, index 0 too", "[cluster][cluster_resolver]") {
  const auto resolver = simple(kBase, {.master = "master"});
  CHECK(resolver.master("worker", 0) == "worker0:2222");
  CHECK(resolver.master("worker", 2) == "worker2:2222");
  CHECK(resolver.master("worker") == "master");
  CHECK(resolver.master({}, 1) == "master");
  CHECK(resolver.master("worker", 2, "test") == "test://worker2:2222");
  check_throws<InvalidArgumentError>([&] { resolver.master("worker", 3); }, "No task with index");
  check_throws<InvalidArgumentError>([&] { resolver.master("chief", 0); }, "No such job");
}

TEST_CASE("a union takes jobs from all and the rest from the first", "[cluster][union_resolver]") {
  const auto first = simple(ClusterSpec{{"worker", {"a:1"}}}, {.master = "m",
                                                               .task_type = TaskType("ps"),
                                                               .task_id = 1,
                                                               .environment = "e",
                                                               .num_accelerators = {{"GPU", 2}},
                                                               .rpc_layer = "grpc"});
  const auto second =
      simple(ClusterSpec{{"ps", {"b:1"}}},
             {.task_type = TaskType("worker"), .task_id = 5, .environment = "other"});
  const UnionResolver both(first, second);
  CHECK(both.cluster_spec() == ClusterSpec{{"worker", {"a:1"}}, {"ps", {"b:1"}}});
  CHECK(both.task_type() == "ps");
  CHECK(both.task_id() == 1);
  CHECK(both.environment() == "e");
  CHECK(both.rpc_layer() == "grpc");
  CHECK(both.num_accelerators() == std::map<std::string, int>{{"GPU", 2}});
  CHECK(both.master() == "grpc://m");
  CHECK(both.master("ps", 0) == "grpc://b:1");
  CHECK(both.master("ps", 0, "x") == "x://b:1");
}

TEST_CASE("a union's overrides win, index 0 too", "[cluster][union_resolver]") {
  const auto shared = std::make_shared<SimpleClusterResolver>(
      kBase, SimpleClusterResolverOptions{.task_type = TaskType("ps"), .task_id = 1});
  const UnionResolver resolver(
      {shared}, {.rpc_layer = "test", .task_type = TaskType("worker"), .task_id = 0});
  CHECK(resolver.task_id() == 0);
  CHECK(resolver.task_type() == TaskType::Worker);
  CHECK(resolver.rpc_layer() == "test");
  UnionResolver set_later(*shared);
  set_later.set_task_id(0);
  CHECK(set_later.task_id() == 0);
}

TEST_CASE("a union needs resolvers", "[cluster][union_resolver]") {
  using List = std::vector<std::shared_ptr<const ClusterResolver>>;
  check_throws<InvalidArgumentError>([] { UnionResolver(List{}); },
                                     "At least one ClusterResolver is required");
  check_throws<InvalidArgumentError>([] { UnionResolver(List{nullptr}); }, "null pointer");
}

TEST_CASE("overlapping jobs of a union merge as in TensorFlow", "[cluster][union_resolver]") {
  struct Case {
    const char* name;
    ClusterSpec a, b;
    std::optional<ClusterSpec> merged;
  };
  const Case cases[] = {
      {"lists are joined",
       {{"worker", {"w4:2222", "w5:2222"}}, {"ps", {"ps0:2222"}}},
       {{"worker", {"w0:2222", "w1:2222", "w2:2222"}}},
       ClusterSpec{{"worker", {"w4:2222", "w5:2222", "w0:2222", "w1:2222", "w2:2222"}},
                   {"ps", {"ps0:2222"}}}},
      {"sparse jobs with other indices",
       {{"worker", {{1, "a:1"}, {5, "b:1"}}}},
       {{"worker", {{0, "c:1"}, {7, "d:1"}}}},
       ClusterSpec{{"worker", {{0, "c:1"}, {1, "a:1"}, {5, "b:1"}, {7, "d:1"}}}}},
      {"sparse and list with other indices",
       {{"worker", {{3, "a:1"}, {6, "b:1"}}}},
       {{"worker", {"c:1", "d:1"}}},
       ClusterSpec{{"worker", {{0, "c:1"}, {1, "d:1"}, {3, "a:1"}, {6, "b:1"}}}}},
      {"sparse jobs with one index twice",
       {{"worker", {{1, "a:1"}, {5, "b:1"}}}},
       {{"worker", {{5, "c:1"}}}},
       std::nullopt},
      {"sparse and list with one index twice",
       {{"worker", {{1, "a:1"}, {3, "b:1"}}}},
       {{"worker", {"c:1", "d:1"}}},
       std::nullopt},
      {"a sparse job alone stays sparse",
       {{"worker", {{1, "a:1"}}}},
       {{"ps", {"b:1"}}},
       ClusterSpec{{"worker", {{1, "a:1"}}}, {"ps", {"b:1"}}}},
      {"a job without tasks stays", {{"worker", {}}}, {}, ClusterSpec{{"worker", {}}}},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    const UnionResolver both(simple(one.a), simple(one.b));
    if (one.merged)
      CHECK(both.cluster_spec() == *one.merged);
    else
      check_throws<InvalidArgumentError>([&] { both.cluster_spec(); },
                                         "Duplicate keys detected when merging two ClusterSpecs");
  }
}

TEST_CASE("an override in front replaces the number of GPUs", "[cluster][union_resolver]") {
  const auto cluster = simple(kBase, {.num_accelerators = {{"GPU", 8}}});
  const auto gpus = simple({}, {.num_accelerators = {{"GPU", 1}}});
  const UnionResolver resolver(gpus, cluster);
  CHECK(resolver.cluster_spec() == kBase);
  CHECK(resolver.num_accelerators().at("GPU") == 1);
}
