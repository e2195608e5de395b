#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace {

/// The launcher of the tests may have set some of these.
const std::string kClean =
    "env -u TF_CONFIG -u CLUSTER_SPEC -u SM_HOSTS -u TRAINING_JOB_NAME -u SLURM_PROCID -u RANK "
    "-u PET_NNODES -u OMPI_COMM_WORLD_RANK -u MV2_COMM_WORLD_RANK -u PMI_RANK "
    "-u DISTRIBUTE_REPLICAS";

ProgramResult cluster(const std::vector<std::string>& arguments,
                      const std::string& environment = "") {
  std::vector<std::string> words = {"cluster"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program("distribute", words, kClean + " " + environment);
}

ProgramResult with_tf_config(const std::string& text, const std::vector<std::string>& arguments) {
  return cluster(arguments, "TF_CONFIG=" + shell_quoted(text));
}

void check_complaint(const ProgramResult& result, const std::string& text) {
  CHECK(result.status == 2);
  CHECK(result.out == "");
  CHECK_THAT(result.err, Contains(text));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

const std::string kTwoWorkers =
    R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"], "ps": {"3": "höst:1"}},
        "task": {"type": "worker", "index": "1"}, "rpc_layer": "grpc"})";

}  // namespace

TEST_CASE("cluster --json prints what TensorFlow answers", "[tools][cluster_command]") {
  const ProgramResult result = with_tf_config(kTwoWorkers, {"--json"});
  CHECK(result.status == 0);
  CHECK(result.err == "");
  CHECK(Json::parse(result.out) == Json::parse(R"({
    "cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"], "ps": {"3": "höst:1"}},
    "task_type": "worker", "task_id": 1, "rpc_layer": "grpc", "master": "grpc://b:1",
    "is_chief": false, "id_in_cluster": 2, "worker_count": 3,
    "leader": "/job:chief/replica:0/task:0", "should_save_checkpoint": false})"));
}

TEST_CASE("cluster --json gives null for what is not known", "[tools][cluster_command]") {
  const ProgramResult unknown = with_tf_config(
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": 123456, "index": 7}})",
      {"--json"});
  CHECK(unknown.status == 0);
  CHECK(Json::parse(unknown.out) == Json::parse(R"({
    "cluster": {"worker": ["a:1", "b:1"]}, "task_type": "123456", "task_id": 7,
    "rpc_layer": null, "master": null, "is_chief": null, "id_in_cluster": null,
    "worker_count": null, "leader": null, "should_save_checkpoint": null})"));
  const Json alone = Json::parse(cluster({"--json"}).out);
  CHECK(alone["cluster"] == Json::object());
  CHECK(alone["task_type"].is_null());
  CHECK(alone["master"] == "");
  CHECK(alone["should_save_checkpoint"] == true);
}

TEST_CASE("cluster refuses the addresses that trainers refuse", "[tools][cluster_command]") {
  const auto of_worker = [](const std::string& address, const std::vector<std::string>& arguments) {
    return with_tf_config(R"({"cluster": {"worker": [")" + address + R"(", "b:1"]},
                              "task": {"type": "worker", "index": 1}})",
                          arguments);
  };
  check_complaint(of_worker(" localhost:2222", {"--json"}),
                  "worker 0: address \" localhost:2222\": the host is not a name");
  check_complaint(of_worker("localhost", {"--json"}),
                  "worker 0: address \"localhost\": has no port");
  check_complaint(of_worker("a:0", {"--json"}), "the others cannot find port 0");
  const ProgramResult explained = of_worker("localhost:2222 ", {});
  CHECK(explained.status == 2);
  CHECK_THAT(explained.out, Contains("worker 0  localhost:2222"));  // what is wrong can be seen
  CHECK_THAT(explained.err, Contains("the port is not a number from 0 to 65535"));
}

TEST_CASE("cluster explains itself to people", "[tools][cluster_command]") {
  const ProgramResult result = with_tf_config(kTwoWorkers, {});
  CHECK(result.status == 1);  // without a token its tasks would not start
  CHECK_THAT(result.out, Contains("TF_CONFIG") && Contains("worker 1  b:1") &&
                             Contains("id 2 among 3 worker(s), does not write checkpoints") &&
                             Contains("job token    MISSING"));
  CHECK(cluster({}, "DISTRIBUTE_JOB_TOKEN=0123456789abcdef TF_CONFIG=" + shell_quoted(kTwoWorkers))
            .status == 0);
  CHECK_THAT(cluster({}).out, Contains("a single process") && Contains("alone"));
  CHECK_THAT(with_tf_config(R"({"cluster": {"worker": ["a:1", "a:1"]}})", {}).out,
             Contains("worker 0 and worker 1 have one address"));
  const ProgramResult without_task = with_tf_config(R"({"cluster": {"master": ["a:1"]}})", {});
  CHECK_THAT(without_task.out, Contains("whose job 'master' is taken for the chief"));
  CHECK(without_task.status == 1);
  const ProgramResult stranger = with_tf_config(
      R"({"cluster": {"worker": ["127.0.0.1:1"]}, "task": {"type": "worker", "index": 7}})", {});
  CHECK_THAT(stranger.out, Contains("exceeds the maximum id of worker"));
  CHECK(stranger.status == 1);
  check_complaint(with_tf_config(R"({"task": {"type": "ps", "index": 0}})", {"--json"}),
                  "this process is 'ps' 0, but no cluster names");
}

TEST_CASE("cluster reads launchers and the classic flags", "[tools][cluster_command]") {
  const ProgramResult torchrun =
      cluster({"--json"}, "RANK=1 WORLD_SIZE=4 MASTER_ADDR=::1 MASTER_PORT=9");
  const Json world = Json::parse(torchrun.out);
  CHECK(world["cluster"] == Json::parse(R"({"worker": ["[::1]:9"]})"));
  CHECK(world["worker_count"] == 4);
  CHECK(world["id_in_cluster"] == 1);
  const ProgramResult flags = cluster(
      {"--json", "--job_name=ps", "--task_index=1", "--ps_hosts=a:1,b:2", "--worker_hosts=c:3"});
  const Json server = Json::parse(flags.out);
  CHECK(server["cluster"] == Json::parse(R"({"ps": ["a:1", "b:2"], "worker": ["c:3"]})"));
  CHECK(server["master"] == "b:2");
}

TEST_CASE("cluster refuses what cannot be read with one line", "[tools][cluster_command]") {
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{}, std::vector<std::string>{"--json"}}) {
    check_complaint(with_tf_config("", form), "TF_CONFIG: an empty text is not JSON");
    check_complaint(with_tf_config("{\"cluster\":\n{", form), "distribute cluster: TF_CONFIG");
    check_complaint(with_tf_config(R"({"cluster": {"wor
ker": "a:1"}})",
                                   form),
                    "not valid JSON");
    check_complaint(with_tf_config(R"({"cluster": {"worker": "a:1"}})", form),
                    "The tasks for job 'worker' must be a list");
    check_complaint(with_tf_config(R"({"task": {"index": "one"}})", form), "task.index");
    check_complaint(with_tf_config(std::string(100'000, '['), form), "nested more than 100 deep");
    check_complaint(with_tf_config("\xff", form), "not valid JSON");
  }
  check_complaint(cluster({},
                          "SLURM_PROCID=0 SLURM_STEP_NODELIST=a "
                          "SLURM_STEP_TASKS_PER_NODE=1"),
                  "distribute cluster: SLURM_STEP_NUM_TASKS not found");
  check_complaint(cluster({"--job_name=chief", "--worker_hosts=a:1"}), "--chief_hosts");
  check_complaint(cluster({"--task_index=x"}), "bad value 'x'");
  check_complaint(cluster({"now"}), "unexpected argument 'now'");
}
