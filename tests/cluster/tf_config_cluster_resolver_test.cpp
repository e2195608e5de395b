#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/json_variable.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/source_dir.hpp>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

TFConfigClusterResolver resolver_of(const std::optional<std::string>& tf_config) {
  std::map<std::string, std::string> variables;
  if (tf_config) variables["TF_CONFIG"] = *tf_config;
  return TFConfigClusterResolver({.variables = Environment(variables)});
}

const std::string kTwoJobs = R"({
  "cluster": {"ps": ["ps0:2222", "ps1:2222"],
              "worker": ["worker0:2222", "worker1:2222", "worker2:2222"]},
  "task": {"type": "ps", "index": 0}})";

void check_refused(const std::string& tf_config, const std::string& part) {
  INFO(tf_config.substr(0, 200));
  const TFConfigClusterResolver resolver = resolver_of(tf_config);
  check_throws<InvalidArgumentError>([&] { cluster_role(resolver); }, part);
}

}  // namespace

TEST_CASE("TF_CONFIG is answered as TensorFlow answers", "[cluster][tf_config]") {
  std::ifstream file(distribute::testing::source_dir() +
                     "/tests/data/cluster/tf_config_answers.json");
  const Json rows = Json::parse(file);
  REQUIRE(rows.size() > 100);
  for (const Json& row : rows) {
    INFO(row.dump());
    const Json& text = row["tf_config"];
    const auto resolver =
        resolver_of(text.is_null() ? std::nullopt : std::optional(text.get<std::string>()));
    Json expected = row["answer"];
    if (expected.contains("error")) {
      CHECK_THROWS_AS(cluster_role(resolver), InvalidArgumentError);
      continue;
    }
    const ClusterRole role = cluster_role(resolver);
    const Json leader = expected["coordination_leader"];
    expected.erase("coordination_leader");
    Json answer = Json::parse(role.to_json());
    // MultiWorkerMirroredStrategy.extended.should_checkpoint, which is is_chief with a cluster.
    CHECK(answer["should_save_checkpoint"] == (role.cluster ? expected["is_chief"] : Json(true)));
    answer.erase("should_save_checkpoint");
    CHECK(answer == expected);
    if (leader.is_null())
      CHECK_THROWS_AS(multi_worker_util::coordination_leader(role.cluster), InvalidArgumentError);
    else
      CHECK(multi_worker_util::coordination_leader(role.cluster) == leader);
  }
}

TEST_CASE("a normal and a sparse cluster are read", "[cluster][tf_config]") {
  const auto resolver = resolver_of(kTwoJobs);
  CHECK(resolver.cluster_spec() ==
        ClusterSpec{{"ps", {"ps0:2222", "ps1:2222"}},
                    {"worker", {"worker0:2222", "worker1:2222", "worker2:2222"}}});
  const auto sparse = resolver_of(R"({"cluster": {"ps": ["ps0:2222"],
      "worker": {"1": "worker1:2222"}}, "task": {"type": "worker", "index": 1}})");
  CHECK(sparse.cluster_spec() ==
        ClusterSpec{{"ps", {"ps0:2222"}}, {"worker", {{1, "worker1:2222"}}}});
  CHECK(sparse.master() == "worker1:2222");
}

TEST_CASE("master follows session_master, then the cluster", "[cluster][tf_config]") {
  CHECK(resolver_of(kTwoJobs).master() == "ps0:2222");
  CHECK(resolver_of(kTwoJobs).master("worker", 2) == "worker2:2222");
  CHECK(resolver_of(kTwoJobs).master("worker", 2, "grpc") == "grpc://worker2:2222");
  CHECK(resolver_of(R"({"session_master": "sessionmaster:2222", "rpc_layer": "grpc",
      "cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})")
            .master() == "sessionmaster:2222");
  CHECK(resolver_of("{}").master() == "");
  CHECK(resolver_of(R"({"cluster": {"worker": ["a:1"]}})").master() == "");
  check_throws<InvalidArgumentError>([] { resolver_of(kTwoJobs).master("worker", 3); },
                                     "No task with index 3");
  check_throws<InvalidArgumentError>(
      [] { resolver_of(R"({"cluster": {"worker": ["a:1", "b:1"]}})").master(); },
      "the task's type is not known");
}

TEST_CASE("options and setters win over TF_CONFIG", "[cluster][tf_config]") {
  const std::string text = R"({"cluster": {"ps": ["ps0:2222", "ps1:2222"],
      "worker": ["worker0:2222", "worker1:2222", "worker2:2222"]},
      "task": {"type": "ps", "index": 0}, "rpc_layer": "grpc", "environment": "google"})";
  const Environment variables(std::map<std::string, std::string>{{"TF_CONFIG", text}});
  TFConfigClusterResolver resolver({.task_type = TaskType("ps"),
                                    .task_id = 0,
                                    .rpc_layer = "http",
                                    .environment = "cloud",
                                    .variables = variables});
  CHECK(resolver.master() == "http://ps0:2222");
  CHECK(resolver.environment() == "cloud");
  resolver.set_task_type("worker");
  resolver.set_task_id(1);
  resolver.set_rpc_layer("test");
  CHECK(resolver.task_type() == "worker");
  CHECK(resolver.task_id() == 1);
  CHECK(resolver.master() == "test://worker1:2222");
  resolver.set_task_type(std::nullopt);
  resolver.set_task_id(std::nullopt);
  resolver.set_rpc_layer(std::nullopt);
  CHECK(resolver.master() == "grpc://ps0:2222");
  // The member of that name belongs to Estimator; only the option counts.
  CHECK(TFConfigClusterResolver({.variables = variables}).environment() == "");
}

TEST_CASE("TF_CONFIG is read anew for every answer", "[cluster][tf_config]") {
  const auto text = std::make_shared<std::string>(R"({"task": {"type": "worker", "index": 0}})");
  const TFConfigClusterResolver resolver(
      {.variables = Environment::Reader([text](const std::string& name) {
         return name == "TF_CONFIG" ? std::optional(*text) : std::nullopt;
       })});
  CHECK(resolver.task_id() == 0);
  *text = R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "ps", "index": "7"}})";
  CHECK(resolver.task_id() == 7);
  CHECK(resolver.task_type() == TaskType::ParameterServer);
  CHECK(resolver.cluster_spec().num_tasks("worker") == 1);
}

TEST_CASE("TF_CONFIG is parsed once for all answers", "[cluster][tf_config]") {
  std::map<std::string, std::string> variables{{"TF_CONFIG", kTwoJobs}};
  const auto& parses = in_process<cluster_internal::JsonVariableParses>().count;
  const int64_t before = parses;
  const ImpliedResolver implied = default_resolver(variables);
  CHECK(cluster_role(*implied.resolver).task_type == TaskType::ParameterServer);
  CHECK(implied.resolver->master() == "ps0:2222");
  CHECK(parses == before + 1);
}

TEST_CASE("the forms of a TFJob with dynamic workers are read", "[cluster][tf_config]") {
  const auto worker = resolver_of(R"({"cluster": {"worker": {"2": "w-2:2222"},
      "ps": ["p-0:2222", "p-1:2222"]}, "task": {"type": "worker", "index": 2}})");
  CHECK(worker.master() == "w-2:2222");
  const auto server = resolver_of(R"({"cluster": {"worker": {}, "ps": ["p-1:2222"]},
      "task": {"type": "ps", "index": 1}})");
  CHECK(server.cluster_spec().num_tasks("worker") == 0);
  CHECK(server.task_id() == 1);
  const auto chief = resolver_of(R"({"cluster": {"worker": {}, "ps": []},
      "task": {"type": "chief", "index": 0}})");
  CHECK(chief.cluster_spec());
}

TEST_CASE("TF_CONFIG of wrong types is refused with the place", "[cluster][tf_config]") {
  check_refused("[]", "TF_CONFIG must be an object, not a list of 0");
  check_refused("\"x\"", "TF_CONFIG must be an object, not the string 'x'");
  check_refused(R"({"task": []})", "TF_CONFIG: task must be an object");
  check_refused(R"({"task": "worker"})", "TF_CONFIG: task must be an object");
  check_refused(R"({"task": {"type": ["worker"]}})", "TF_CONFIG: task.type must be a string");
  check_refused(R"({"task": {"index": "one"}})", "TF_CONFIG: task.index must be a whole number");
  check_refused(R"({"task": {"index": 4294967296}})", "TF_CONFIG: task.index");
  check_refused(R"({"cluster": ["a:1"]})", "TF_CONFIG: cluster must be a dictionary mapping");
  check_refused(R"({"cluster": {"worker": 5}})", "The tasks for job 'worker' must be a list");
  check_refused(R"({"cluster": {"worker": ["a:1", null]}})",
                "TF_CONFIG: cluster['worker'][1]: Task address must be a string, not null");
  check_refused(R"({"cluster": {"worker": ["a\u0000:1"]}})", "'a\\x00:1'");
  check_refused(R"({"task": {"type": "wor\u0000ker", "index": 0}})", "control character");
}

TEST_CASE("a task that is named twice is refused", "[cluster][tf_config]") {
  check_refused(R"({"cluster": {"worker": ["a:1"], "worker": ["b:1"]}})", "'worker' occurs twice");
  check_refused(R"({"cluster": {"worker": {"0": "a:1", "0": "b:1"}}})", "'0' occurs twice");
  check_refused(R"({"cluster": {"worker": {"0": "a:1", " 0": "b:1"}}})", "task 0 is named twice");
  check_refused(R"({"task": {"type": "worker"}, "task": {"type": "ps"}})", "'task' occurs twice");
}

TEST_CASE("a negative index is read but has no place", "[cluster][tf_config]") {
  const ClusterRole role = cluster_role(resolver_of(
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": -1}})"));
  CHECK(role.task_id == -1);
  CHECK_FALSE(role.master);
  CHECK_FALSE(role.is_chief);
  CHECK_THAT(role.problem, Catch::Matchers::Contains("negative"));
}

TEST_CASE("members that only one answer needs do not spoil the others", "[cluster][tf_config]") {
  const auto resolver = resolver_of(R"({"cluster": {"worker": ["a:1", "b:1"]}, "rpc_layer": [1],
      "session_master": 5, "task": {"type": "worker", "index": 0}})");
  check_throws<InvalidArgumentError>([&] { resolver.rpc_layer(); }, "TF_CONFIG: rpc_layer");
  check_throws<InvalidArgumentError>([&] { resolver.master(); }, "TF_CONFIG: session_master");
  const ClusterRole role = cluster_role(resolver);
  CHECK_FALSE(role.rpc_layer);
  CHECK(role.is_chief == true);
}

TEST_CASE("a TFJob with dynamic workers is told what is wanted", "[cluster][tf_config]") {
  const std::vector<std::string> views{
      R"({"cluster": {"worker": {"2": "w2:1"}, "ps": ["p0:1", "p1:1"]},
          "task": {"type": "worker", "index": 2}})",
      R"({"cluster": {"worker": {"0": "w0:1"}, "ps": ["p0:1"]},
          "task": {"type": "worker", "index": 0}})",
      R"({"cluster": {"worker": {}, "ps": ["p1:1"]}, "task": {"type": "ps", "index": 1}})",
      R"({"cluster": {"worker": {}, "ps": []}, "task": {"type": "chief", "index": 0}})"};
  for (const std::string& view : views)
    check_throws<InvalidArgumentError>([&] { check_complete(resolver_of(view)); },
                                       "Leave enableDynamicWorker out of the job");
  const std::vector<std::string> whole{
      "{}", kTwoJobs,
      R"({"cluster": {"worker": {"0": "w0:1"}}, "task": {"type": "worker", "index": 0}})",
      R"({"cluster": {"worker": {"0": "w0:1", "2": "w2:1"}, "ps": ["p0:1"]},
          "task": {"type": "worker", "index": 2}})"};
  for (const std::string& all : whole) check_complete(resolver_of(all));
}
