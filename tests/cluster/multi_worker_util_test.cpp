#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;
namespace util = multi_worker_util;

namespace {

using Type = std::optional<TaskType>;
const ClusterSpec kChief{{"chief", {"127.0.0.1:1234"}},
                         {"worker", {"127.0.0.1:8964", "127.0.0.1:2333"}},
                         {"ps", {"127.0.0.1:1926", "127.0.0.1:3141"}}};
const ClusterSpec kWorkers{{"worker", {"127.0.0.1:8964", "127.0.0.1:2333"}},
                           {"ps", {"127.0.0.1:1926"}}};

}  // namespace

TEST_CASE("the place of every task follows TensorFlow's table", "[cluster][multi_worker_util]") {
  const ClusterSpec evaluators{{"chief", {"c:1"}}, {"worker", {"w:1"}}, {"evaluator", {"e:1"}}};
  struct Case {
    ClusterSpec spec;
    const char* type;
    int id;
    std::optional<bool> chief;
    std::optional<int> id_in_cluster, workers;
    std::optional<std::string> leader;
  };
  const std::string chief = "/job:chief/replica:0/task:0", worker = "/job:worker/replica:0/task:0";
  const Case cases[] = {
      {kChief, "chief", 0, true, 0, 3, chief},
      {kChief, "worker", 0, false, 1, 3, chief},
      {kChief, "worker", 1, false, 2, 3, chief},
      {kChief, "ps", 1, false, {}, {}, chief},
      {kChief, "evaluator", 0, true, 0, {}, ""},
      {kWorkers, "worker", 0, true, 0, 2, worker},
      {kWorkers, "worker", 1, false, 1, 2, worker},
      {kWorkers, "ps", 0, false, {}, {}, worker},
      {evaluators, "evaluator", 0, true, 0, 1, ""},
      {{{"ps", {"p:1"}}}, "ps", 0, false, {}, {}, {}},
      {{{"chief", {"c:1"}}}, "chief", 0, true, 0, 1, chief},
      {kWorkers, "worker", 2, {}, {}, 2, {}},
      {kChief, "chief", 1, {}, {}, 3, {}},
      {kWorkers, "chief", 0, {}, {}, {}, {}},
      {{{"worker", {{1, "w:1"}}}}, "worker", 1, {}, {}, 1, {}},
  };
  for (const Case& one : cases) {
    INFO(one.spec.to_json() << " " << one.type << " " << one.id);
    const ClusterRole role = cluster_role(
        SimpleClusterResolver(one.spec, {.task_type = TaskType(one.type), .task_id = one.id}));
    CHECK(role.is_chief == one.chief);
    CHECK(role.should_save_checkpoint == one.chief);
    CHECK(role.id_in_cluster == one.id_in_cluster);
    CHECK(role.worker_count == one.workers);
    CHECK(role.leader == one.leader);
    CHECK(role.problem.empty() == one.chief.has_value());
  }
}

TEST_CASE("a spec is checked in TensorFlow's order", "[cluster][multi_worker_util]") {
  const auto check = [](const ClusterSpec& spec, Type type, std::optional<int> id,
                        const std::string& part) {
    INFO(spec.to_json());
    check_throws<InvalidArgumentError>([&] { util::validate_cluster_spec(spec, type, id); }, part);
    check_throws<InvalidArgumentError>([&] { util::is_chief(spec, type, id); }, part);
    check_throws<InvalidArgumentError>([&] { util::id_in_cluster(spec, type, id); }, part);
    check_throws<InvalidArgumentError>([&] { util::collective_leader(spec, type, id); }, part);
  };
  check({{"master", {"m:1"}}, {"worker", {"w:1"}}}, "unknown", 0,
        "Disallowed task type found in cluster spec: 'master'");
  check(kWorkers, "master", 0, "Unrecognized task_type: 'master'");
  check(kWorkers, "", 0, "Unrecognized task_type: ''");
  check({{"chief", {"a:1", "b:1"}}}, "worker", 0, "not found in cluster_spec");
  check({{"chief", {"a:1", "b:1"}}}, "chief", 5, "There must be at most one 'chief' job.");
  check({{"worker", {"a:1"}}, {"evaluator", {"b:1", "c:1"}}}, "worker", 5,
        "There must be at most one 'evaluator' job.");
  check(kWorkers, "worker", 2, "The `task_id` 2 exceeds the maximum id of worker");
  check(kWorkers, "worker", -1, "The `task_id` -1 is negative");
  check(kWorkers, "worker", {}, "has no id");
}

TEST_CASE("counts and ids of tasks that have none are errors", "[cluster][multi_worker_util]") {
  check_throws<InvalidArgumentError>([] { util::worker_count(kChief, TaskType("ps")); },
                                     "Unexpected `task_type` 'ps'");
  check_throws<InvalidArgumentError>([] { util::worker_count(kChief, {}); },
                                     "Unexpected `task_type` None");
  check_throws<InvalidArgumentError>([] { util::worker_count(kChief, TaskType("evaluator")); },
                                     "No such job in cluster: 'evaluator'");
  check_throws<InvalidArgumentError>([] { util::id_in_cluster(kChief, TaskType("ps"), 0); },
                                     "There is no id for task_type 'ps'");
}

TEST_CASE("without a cluster no task leads and the process saves", "[cluster][multi_worker_util]") {
  const ClusterSpec none;
  CHECK(util::collective_leader(none, {}, {}) == "");
  CHECK(util::collective_leader(none, TaskType("worker"), 0) == "");
  CHECK(util::coordination_leader(none) == "");
  CHECK_FALSE(util::is_chief(none, {}, {}));
  CHECK(util::should_save_checkpoint(none, {}, {}));
  CHECK(util::is_chief(none, TaskType("evaluator"), 0));
}

TEST_CASE("parameter server 0 coordinates where there is one", "[cluster][multi_worker_util]") {
  CHECK(util::coordination_leader(kChief) == "/job:ps/replica:0/task:0");
  CHECK(util::coordination_leader({{"chief", {"c:1"}}, {"worker", {"w:1"}}}) ==
        "/job:chief/replica:0/task:0");
  CHECK(util::coordination_leader({{"worker", {"w:1"}}}) == "/job:worker/replica:0/task:0");
  check_throws<InvalidArgumentError>(
      [] {
        util::coordination_leader({{"evaluator", {"e:1"}}});
      },
      "no task can lead");
}
