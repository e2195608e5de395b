#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/platforms/vertex_cluster_resolver.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

using Variables = std::map<std::string, std::string>;

const Variables kTfConfig = {
    {"TF_CONFIG",
     R"({"cluster": {"worker": ["t:1", "u:1"]}, "task": {"type": "worker", "index": 1}})"}};
const Variables kVertex = {{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["v:1"],
    "workerpool1": ["w:1"]}, "task": {"type": "workerpool1", "index": 0}})"}};
const Variables kSageMaker = {{"SM_HOSTS", R"(["algo-1","algo-2"])"},
                              {"SM_CURRENT_HOST", "algo-2"}};
const Variables kSlurm = {{"SLURM_PROCID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "2"},
                          {"SLURM_STEP_NODELIST", "s[1-2]"},
                          {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};
const Variables kTorchrun = {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "torch"}};
const Variables kMpirun = {
    {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"MASTER_ADDR", "mpi"}};
const Variables kPod = {
    {"HOSTNAME", "pod-1"}, {"DISTRIBUTE_REPLICAS", "2"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};

Variables all(std::initializer_list<Variables> parts) {
  Variables sum;
  for (const Variables& part : parts) sum.insert(part.begin(), part.end());
  return sum;
}

}  // namespace

TEST_CASE("the environment implies a resolver, in a fixed order", "[cluster][default_resolver]") {
  struct Case {
    Variables variables;
    const char* reason;
    const char* address;  // of the first task of the first job
  };
  const Variables lone = {{"TF_CONFIG", R"({"cluster": {"chief": ["t:1"]}})"}};
  const Variables no_cluster = {{"TF_CONFIG", R"({"task": {"type": "worker", "index": 0}})"}};
  const Case cases[] = {
      {kTfConfig, "TF_CONFIG", "t:1"},
      {all({kTfConfig, kVertex, kSageMaker, kSlurm, kTorchrun, kPod}), "TF_CONFIG", "t:1"},
      {all({kVertex, kSageMaker, kSlurm}), "CLUSTER_SPEC of Vertex AI", "v:1"},
      {all({lone, kVertex}), "CLUSTER_SPEC of Vertex AI", "v:1"},
      {all({lone, kSlurm}), "TF_CONFIG", "t:1"},
      {all({no_cluster, kSageMaker, kSlurm}), "SM_HOSTS of SageMaker", "algo-1:2223"},
      {all({no_cluster, kSlurm}), "a job step of Slurm (SLURM_PROCID)", "s1:8888"},
      {all({kSlurm, {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}}), "a job step of Slurm (SLURM_PROCID)",
       "s1:8888"},
      {kTorchrun, "torchrun's variables (RANK or PET_NODE_RANK)", "torch:29500"},
      {all({kTorchrun, kMpirun}), "torchrun's variables (RANK or PET_NODE_RANK)", "torch:29500"},
      {kMpirun, "mpirun's variables (OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE)", "mpi:29500"},
      {all({kTorchrun, kSlurm, {{"HOROVOD_RANK", "0"}, {"HOROVOD_SIZE", "2"}}}),
       "horovodrun's variables (HOROVOD_RANK)", "torch:29500"},
      {kPod, "a pod of Kubernetes (DISTRIBUTE_REPLICAS)", "pod-0.pod:8470"},
  };
  for (const Case& one : cases) {
    INFO(one.reason);
    const ImpliedResolver implied = default_resolver(one.variables);
    CHECK(implied.reason == one.reason);
    CHECK(implied.resolver->cluster_spec().as_dict().begin()->second.by_index().at(0) ==
          one.address);
  }
}

TEST_CASE("launchers inside of a Slurm step win over it", "[cluster][default_resolver]") {
  const Variables torch = all({kSlurm, kTorchrun, {{"TORCHELASTIC_RUN_ID", "x"}}});
  CHECK(default_resolver(torch).resolver->world_size() == 4);
  CHECK(default_resolver(all({kSlurm, kMpirun})).resolver->cluster_spec() ==
        ClusterSpec{{"worker", {"mpi:29500"}}});
  // sbatch scripts often export these for every task of srun.
  CHECK(default_resolver(all({kSlurm, kTorchrun})).resolver->cluster_spec().num_tasks("worker") ==
        2);
}

TEST_CASE("without a cluster the process is alone", "[cluster][default_resolver]") {
  const ImpliedResolver implied = default_resolver(Variables{});
  CHECK_FALSE(implied.resolver->cluster_spec());
  CHECK_THAT(implied.reason, Catch::Matchers::Contains("a single process"));
  const Variables chief = {{"TF_CONFIG", R"({"cluster": {"worker": {}, "ps": []},
      "task": {"type": "chief", "index": 0}})"}};
  CHECK(implied_resolver(chief).reason == "TF_CONFIG");
  const Variables worker = {{"TF_CONFIG", R"({"task": {"type": "worker", "index": 0}})"}};
  CHECK_FALSE(default_resolver(worker).resolver->cluster_spec());
}

TEST_CASE("a TF_CONFIG that speaks of a job and does not name its tasks is refused",
          "[cluster][default_resolver]") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"sparseCluster": {"worker": {}, "ps": []}, "task": {"type": "chief", "index": 0}})",
       "wanted under the key \"cluster\", there is 'sparseCluster'"},
      {R"({"clusters": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})",
       "there is 'clusters'"},
      {R"({"Cluster": {"worker": ["a:1", "b:1"]}})", "there is 'Cluster'"},
      {R"({"hosts": {"worker": ["a:1", "b:1"]}})", "there is 'hosts'"},
      {R"({"worker": ["a:1", "b:1"], "task": {"type": "worker", "index": 0}})",
       "there is 'worker'"},
      {R"({"cluster": {}})", "TF_CONFIG: `cluster` is empty"},
      {R"({"task": {"type": "ps", "index": 0}})", "TF_CONFIG: this process is 'ps' 0"},
      {R"({"task": {"type": "chief", "index": 0}})", "this process is 'chief' 0"},
      {R"({"task": {"type": "worker", "index": 1}})", "this process is 'worker' 1"},
      {R"({"cluster": {"worker": {}, "ps": []}, "task": {"type": "chief", "index": 0}})",
       "Leave enableDynamicWorker out"},
  };
  for (const auto& [text, part] : cases) {
    const Variables variables{{"TF_CONFIG", text}};
    check_throws<InvalidArgumentError>([&] { default_resolver(variables); }, part);
    // Also where another environment would describe a job.
    check_throws<InvalidArgumentError>(
        [&] {
          default_resolver(all({variables, kTorchrun}));
        },
        part);
  }
  for (const char* text : {R"({"task": {"type": "evaluator", "index": 0}})", "{}",
                           R"({"environment": "cloud", "job": {"worker_count": "2"}})"})
    CHECK_FALSE(default_resolver(Variables{{"TF_CONFIG", text}}).resolver->cluster_spec());
}

TEST_CASE("a TF_CONFIG that cannot be read is not passed over", "[cluster][default_resolver]") {
  const Variables broken = all({{{"TF_CONFIG", "{"}}, kSlurm});
  CHECK(implied_resolver(broken).reason == "TF_CONFIG");
  CHECK_THROWS_AS(default_resolver(broken), InvalidArgumentError);
}

TEST_CASE("the master of TF_CONFIG is taken for the chief", "[cluster][default_resolver]") {
  const auto implied = [](const std::string& task) {
    return default_resolver(Variables{{"TF_CONFIG", R"({"cluster": {"master": ["m:1"],
        "worker": ["a:1", "b:1"], "ps": ["p:1"]}, "task": )" +
                                                        task + "}"}});
  };
  const ImpliedResolver master = implied(R"({"type": "master", "index": 0})");
  CHECK_THAT(master.reason, Catch::Matchers::Contains("'master' is taken for the chief"));
  CHECK(master.resolver->cluster_spec() ==
        ClusterSpec{{"chief", {"m:1"}}, {"worker", {"a:1", "b:1"}}, {"ps", {"p:1"}}});
  CHECK(cluster_role(*master.resolver).is_chief == true);
  const ImpliedResolver worker = implied(R"({"type": "worker", "index": 1})");
  CHECK(worker.resolver->cluster_spec() == master.resolver->cluster_spec());
  CHECK(cluster_role(*worker.resolver).id_in_cluster == 2);
  const Variables both = {{"TF_CONFIG", R"({"cluster": {"master": ["m:1"], "chief": ["c:1"]},
      "task": {"type": "master", "index": 0}})"}};
  CHECK(default_resolver(both).resolver->cluster_spec().has_job("master"));
}

TEST_CASE("classic flags win and are checked", "[cluster][flags]") {
  ClusterFlags flags{
      .job_name = "worker", .task_index = 1, .ps_hosts = "p:1", .worker_hosts = "a:1, [::1]:2"};
  const ImpliedResolver implied = default_resolver(kTfConfig, flags);
  CHECK(implied.resolver->cluster_spec() ==
        ClusterSpec{{"ps", {"p:1"}}, {"worker", {"a:1", "[::1]:2"}}});
  CHECK(implied.resolver->task_type() == TaskType::Worker);
  CHECK(implied.resolver->master() == "[::1]:2");
  const auto check = [](const ClusterFlags& wrong, const std::string& part) {
    check_throws<InvalidArgumentError>([&] { FlagsClusterResolver{wrong}; }, part);
  };
  check({.task_index = 0, .worker_hosts = "a:1"}, "--job_name");
  check({.job_name = "chief", .worker_hosts = "a:1"}, "add --chief_hosts");
  check({.job_name = "boss", .worker_hosts = "a:1"}, "it takes ps, worker, chief, evaluator");
  check({.job_name = "worker", .worker_hosts = "a:1,b:1"}, "--task_index");
  check({.job_name = "worker", .task_index = 2, .worker_hosts = "a:1,b:1"}, "has 2 task(s)");
  check({.job_name = "worker", .task_index = -1, .worker_hosts = "a:1"}, "--task_index=-1");
  check({.job_name = "worker", .worker_hosts = "a:1,,b:1"}, "--worker_hosts='a:1,,b:1'");
  check({.job_name = "worker", .worker_hosts = "a:1 b:1"}, "divided by commas");
  check({.job_name = "worker", .ps_hosts = "a:1", .worker_hosts = "b"},
        "--worker_hosts='b': address \"b\": has no port");
  CHECK(FlagsClusterResolver({.job_name = "worker", .worker_hosts = "a:1"}).task_id() == 0);
  const FlagsClusterResolver evaluator({.job_name = "evaluator", .worker_hosts = "a:1,b:1"});
  CHECK(cluster_role(evaluator).is_chief == true);
  const FlagsClusterResolver chief(
      {.job_name = "chief", .chief_hosts = "c:1", .evaluator_hosts = "e:1"});
  CHECK(chief.cluster_spec() == ClusterSpec{{"chief", {"c:1"}}, {"evaluator", {"e:1"}}});
}

TEST_CASE("worker pools of Vertex AI are jobs", "[cluster][vertex]") {
  const auto resolver = [](const std::string& text) {
    return VertexClusterResolver({.variables = Environment(Variables{{"CLUSTER_SPEC", text}})});
  };
  const std::string cluster = R"({"cluster": {"workerpool0": ["c:1"], "workerpool1": ["a:1", "b:1"],
      "workerpool2": ["p:1"], "workerpool3": ["e:1"]}, "environment": "cloud",
      "job": "{\"a\": 1}", "open_ports": [1, 2], "task": )";
  const auto worker = resolver(cluster + R"({"type": "workerpool1", "index": 1, "trial": "1"}})");
  CHECK(worker.cluster_spec() ==
        ClusterSpec{{"chief", {"c:1"}}, {"worker", {"a:1", "b:1"}}, {"ps", {"p:1"}}});
  CHECK(worker.task_type() == TaskType::Worker);
  CHECK(worker.task_id() == 1);
  CHECK(worker.master() == "b:1");
  const auto evaluator = resolver(cluster + R"({"type": "workerpool3", "index": 0}})");
  CHECK(cluster_role(evaluator).task_type == TaskType::Evaluator);
  CHECK(cluster_role(evaluator).is_chief == true);
  const auto master = resolver(R"({"cluster": {"master": ["m:1"], "worker": ["w:1"]},
      "task": {"type": "master", "index": 0}})");
  CHECK(cluster_role(master).is_chief == true);
  CHECK(cluster_role(master).worker_count == 2);
  check_throws<InvalidArgumentError>(
      [&] {
        resolver(R"({"cluster": {"chief": ["a:1"], "workerpool0": ["b:1"]}})").cluster_spec();
      },
      "'workerpool0' is a second job chief");
  check_throws<InvalidArgumentError>([&] { resolver("{").cluster_spec(); },
                                     "CLUSTER_SPEC: not valid JSON");
  check_throws<InvalidArgumentError>(
      [] {
        default_resolver(Variables{{"CLUSTER_SPEC", "{}"}});
      },
      "CLUSTER_SPEC has no `cluster`");
  check_throws<InvalidArgumentError>(
      [] {
        default_resolver(Variables{{"CLUSTER_SPEC", R"({"cluster": {}})"}});
      },
      "`cluster` is empty");
  check_throws<FailedPreconditionError>(
      [] { VertexClusterResolver({.variables = Environment(Variables{})}).cluster_spec(); },
      "CLUSTER_SPEC is not set");
}
