#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>

#include <map>
#include <memory>
#include <string>

#include "../support/catch.hpp"

namespace distribute {

namespace {

using Variables = std::map<std::string, std::string>;

ResolverKind nomad(int order) {
  return {.name = "Nomad",
          .order = order,
          .implied_by =
              [](const Environment& variables) {
                return std::string(variables.has("NOMAD_ALLOC_ID") ? "an allocation of Nomad" : "");
              },
          .make =
              [](const Environment&) {
                return std::make_unique<SimpleClusterResolver>(
                    ClusterSpec::from_json(R"({"worker": ["a:1", "b:1"]})"));
              }};
}

}  // namespace

TEST_CASE("a registered kind of resolver is taken where its environment is seen",
          "[cluster][resolver_registry]") {
  register_cluster_resolver(nomad(5));
  const auto seen = default_resolver(Variables{{"NOMAD_ALLOC_ID", "7"}});
  CHECK(seen.reason == "an allocation of Nomad");
  CHECK(seen.resolver->cluster_spec().num_tasks("worker") == 2);
  CHECK(default_resolver(Variables{}).reason != "an allocation of Nomad");
}

TEST_CASE("of the kinds that are seen the one with the lowest order is taken",
          "[cluster][resolver_registry]") {
  const Variables both{{"NOMAD_ALLOC_ID", "7"},
                       {"RANK", "0"},
                       {"WORLD_SIZE", "1"},
                       {"MASTER_ADDR", "a"},
                       {"MASTER_PORT", "1"}};
  register_cluster_resolver(nomad(5));
  CHECK(default_resolver(both).reason == "an allocation of Nomad");
  register_cluster_resolver(nomad(55));
  CHECK(default_resolver(both).reason != "an allocation of Nomad");
}

TEST_CASE("a TF_CONFIG with several tasks wins over every kind", "[cluster][resolver_registry]") {
  register_cluster_resolver(nomad(5));
  const Variables variables{
      {"NOMAD_ALLOC_ID", "7"},
      {"TF_CONFIG",
       R"({"cluster": {"worker": ["c:1", "d:1"]}, "task": {"type": "worker", "index": 0}})"}};
  CHECK(default_resolver(variables).reason == "TF_CONFIG");
}

TEST_CASE("a kind without name or functions is refused", "[cluster][resolver_registry]") {
  CHECK_THROWS_AS(register_cluster_resolver({}), InvalidArgumentError);
  CHECK_THROWS_AS(register_cluster_resolver({.name = "x", .make = nomad(1).make}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(register_cluster_resolver({.name = "x", .implied_by = nomad(1).implied_by}),
                  InvalidArgumentError);
}

}  // namespace distribute
