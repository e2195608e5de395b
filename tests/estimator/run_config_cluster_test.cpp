#include <distribute/base/error.hpp>
#include <distribute/estimator/estimator.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

RunConfigCluster run_config(const std::string& text, const std::string& model_dir = "") {
  return read_run_config_cluster(std::map<std::string, std::string>{{"TF_CONFIG", text}},
                                 model_dir);
}

/// A cluster in JSON with a task of it.
std::string tf_config(const std::string& cluster, const std::string& task) {
  return R"({"cluster": )" + cluster + R"(, "task": )" + task + "}";
}

const std::string kJobs =
    R"({"chief": ["host0:0"], "ps": ["host1:1", "host2:2"], "worker": ["host3:3", "host4:4", "host5:5"],
        "other_type": ["host6:6"]})";

}  // namespace

TEST_CASE("without TF_CONFIG the process trains alone", "[cluster][run_config]") {
  const RunConfigCluster alone = read_run_config_cluster(std::map<std::string, std::string>());
  CHECK_FALSE(alone.cluster_spec);
  CHECK(alone.task_type == TaskType::Worker);
  CHECK(alone.task_id == 0);
  CHECK(alone.master == "");
  CHECK(alone.is_chief);
  CHECK(alone.num_ps_replicas == 0);
  CHECK(alone.num_worker_replicas == 1);
  CHECK(alone.global_id_in_cluster == 0);
  CHECK(run_config(R"({"session_master": "m", "eval_session_master": "e"})").master == "m");
  CHECK(run_config(R"({"session_master": "m", "eval_session_master": "e"})").evaluation_master ==
        "e");
}

TEST_CASE("Estimator does not take a task of a job for a process alone", "[cluster][run_config]") {
  check_throws<InvalidArgumentError>([] { run_config(R"({"cluster": {}})"); },
                                     "`cluster` is empty");
  check_throws<InvalidArgumentError>([] { run_config(R"({"clusters": {"chief": ["a:1"]}})"); },
                                     "there is 'clusters'");
  std::map<std::string, std::string> torchrun{
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  CHECK_THROWS_SAYING(read_run_config_cluster(torchrun), FailedPreconditionError,
                      "with 2 tasks: set TF_CONFIG");
  torchrun.erase("MASTER_ADDR");
  CHECK_THROWS_SAYING(read_run_config_cluster(torchrun), FailedPreconditionError,
                      "but MASTER_ADDR is not");
}

TEST_CASE("the chief comes first, parameter servers come last", "[cluster][run_config]") {
  struct Case {
    const char* type;
    int index, global_id;
    const char* master;
  };
  const Case cases[] = {
      {"chief", 0, 0, "grpc://host0:0"},  {"other_type", 0, 1, "grpc://host6:6"},
      {"worker", 0, 2, "grpc://host3:3"}, {"worker", 2, 4, "grpc://host5:5"},
      {"ps", 0, 5, "grpc://host1:1"},     {"ps", 1, 6, "grpc://host2:2"},
  };
  for (const Case& one : cases) {
    INFO(one.type << " " << one.index);
    const std::string index = std::to_string(one.index);
    const RunConfigCluster place = run_config(tf_config(
        kJobs, R"({"type": ")" + std::string(one.type) + R"(", "index": )" + index + "}"));
    CHECK(place.task_type == one.type);
    CHECK(place.task_id == one.index);
    CHECK(place.global_id_in_cluster == one.global_id);
    CHECK(place.master == one.master);
    CHECK(place.is_chief == (std::string(one.type) == "chief"));
    CHECK(place.num_ps_replicas == 2);
    CHECK(place.num_worker_replicas == 4);
  }
  const RunConfigCluster lone =
      run_config(tf_config(R"({"chief": ["host0:0"]})", R"({"type": "chief", "index": 0})"));
  CHECK(lone.master == "");
  CHECK(lone.num_worker_replicas == 1);
}

TEST_CASE("a master may stand for the chief", "[cluster][run_config]") {
  const std::string cluster =
      R"({"master": ["host0:0"], "ps": ["host1:1"], "worker": ["host3:3"]})";
  const RunConfigCluster master =
      run_config(tf_config(cluster, R"({"type": "master", "index": 0})"));
  CHECK(master.is_chief);
  CHECK(master.global_id_in_cluster == 0);
  CHECK(master.num_worker_replicas == 2);
  CHECK(run_config(tf_config(cluster, R"({"type": "worker", "index": 0})")).global_id_in_cluster ==
        1);
  CHECK(run_config(tf_config(cluster, R"({"type": "ps", "index": 0})")).global_id_in_cluster == 2);
}

TEST_CASE("an evaluator is outside of the cluster", "[cluster][run_config]") {
  const RunConfigCluster evaluator =
      run_config(tf_config(kJobs, R"({"type": "evaluator", "index": 12})"));
  CHECK_FALSE(evaluator.cluster_spec);
  CHECK(evaluator.task_type == TaskType::Evaluator);
  CHECK(evaluator.task_id == 12);
  CHECK(evaluator.master == "");
  CHECK(evaluator.num_ps_replicas == 0);
  CHECK(evaluator.num_worker_replicas == 0);
  CHECK_FALSE(evaluator.global_id_in_cluster);
  CHECK_FALSE(evaluator.is_chief);
}

TEST_CASE("Estimator refuses clusters that it cannot run", "[cluster][run_config]") {
  const std::string chief = R"({"chief": ["host0:0"], "worker": ["host1:1"]})";
  const std::string master = R"({"master": ["host0:0"], "worker": ["host1:1"]})";
  const std::pair<std::string, const char*> cases[] = {
      {tf_config(R"({"chief": ["a:0", "b:0"]})", R"({"type": "chief", "index": 0})"),
       "must have only one \"chief\" node"},
      {tf_config(R"({"worker": ["a:0"]})", R"({"type": "worker", "index": 0})"),
       "it must have one \"chief\" node"},
      {tf_config(chief, R"({"index": 0})"), "task type must be set"},
      {tf_config(chief, R"({"type": "", "index": 0})"), "task type must be set"},
      {tf_config(chief, R"({"type": "chief"})"), "task index must be set"},
      {tf_config(chief, R"({"type": "worker", "index": 1})"), "1 is not a valid task_id"},
      {tf_config(chief, R"({"type": "worker", "index": -1})"), "Task index must be non-negative"},
      {tf_config(chief, R"({"type": "ps", "index": 0})"), "'ps' is not a valid task_type"},
      {tf_config(R"({"master": ["a:0", "b:0"]})", R"({"type": "master", "index": 0})"),
       "must have only one \"master\" node"},
      {tf_config(master, R"({"type": "evaluator", "index": 0})"),
       "task_type `evaluator` is not supported"},
      {tf_config(R"({"master": ["a:0"], "chief": ["b:0"]})", R"({"type": "master", "index": 0})"),
       "job `chief` is not supported"},
      {R"({"task": {"type": "chief"}})", "task type must be WORKER"},
      {R"({"task": {"type": "worker", "index": 1}})", "task index must be 0"},
      {R"({"service": 5})", "TF_CONFIG: service must be an object"},
      {R"({"model_dir": ""})", "model_dir should be non-empty"},
      {R"({"model_dir": 5})", "TF_CONFIG: model_dir must be a string"},
      {"{", "not valid JSON"},
  };
  for (const auto& [text, part] : cases) {
    INFO(text);
    check_throws<InvalidArgumentError>([&, &text = text] { run_config(text); }, part);
  }
}

TEST_CASE("model_dir comes from one place, or is the same in both", "[cluster][run_config]") {
  CHECK(run_config("{}").model_dir == "");
  CHECK(run_config("{}", "/a").model_dir == "/a");
  CHECK(run_config(R"({"model_dir": "/a"})").model_dir == "/a");
  CHECK(run_config(R"({"model_dir": "/a"})", "/a").model_dir == "/a");
  check_throws<InvalidArgumentError>([] { run_config(R"({"model_dir": "/a"})", "/b"); },
                                     "the two must be the same");
}
