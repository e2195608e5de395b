#include <distribute/cluster/detail/lone_process.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using cluster_internal::job_of_others;

namespace {

using Variables = std::map<std::string, std::string>;

constexpr const char* kWorkers =
    R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]},
        "task": {"type": "worker", "index": 1}})";
constexpr const char* kServers =
    R"({"cluster": {"chief": ["a:1"], "ps": ["b:1"]}, "task": {"type": "chief", "index": 0}})";

/// Each with what the description must say.
const std::pair<Variables, const char*> kJobs[] = {
    {{{"TF_CONFIG", kWorkers}},
     "the environment has TF_CONFIG with 3 tasks, but the program makes no strategy for several. "
     "Use MultiWorkerMirroredStrategy or make_strategy()"},
    {{{"TF_CONFIG", kServers}},
     "2 tasks, but the program makes no strategy for several. Use "
     "ParameterServerStrategy or make_strategy()"},
    {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["v:1"], "workerpool1": ["v:2", "v:3"]},
                           "task": {"type": "workerpool0", "index": 0}})"}},
     "CLUSTER_SPEC with 3 tasks"},
    {{{"SM_HOSTS", R"(["algo-1","algo-2"])"}, {"SM_CURRENT_HOST", "algo-1"}},
     "SM_HOSTS with 2 hosts"},
    {{{"SM_HOSTS", R"(["algo-1"])"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
     "OMPI_COMM_WORLD_SIZE with 4 tasks"},
    {{{"HOROVOD_RANK", "0"}, {"HOROVOD_SIZE", "3"}}, "HOROVOD_SIZE with 3 tasks"},
    {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "PMI_SIZE with 2 tasks"},
    {{{"RANK", "1"}, {"WORLD_SIZE", "2"}}, "WORLD_SIZE with 2 tasks"},
    {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}}, "SLURM_NTASKS with 4 tasks"},
    {{{"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "2"}}, "SLURM_STEP_NUM_TASKS with 2 tasks"},
    {{{"HOSTNAME", "pod-1"}, {"DISTRIBUTE_REPLICAS", "2"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
     "DISTRIBUTE_REPLICAS with 2 tasks"},
};

}  // namespace

TEST_CASE("an environment of several tasks is described with its variables and the cure",
          "[cluster][lone_process]") {
  for (const auto& [variables, wanted] : kJobs) {
    INFO(wanted);
    CHECK_THAT(job_of_others(variables), Contains(wanted));
  }
}

TEST_CASE("an environment of one task has no others", "[cluster][lone_process]") {
  const Variables alone[] = {
      {},
      {{"TF_CONFIG",
        R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})"}},
      {{"TF_CONFIG", "{}"}},
      {{"TF_CONFIG", "{\"cluster\": {\"worker\": [\"a:1\", \"b:1"}},  // which a strategy refuses
      {{"TF_CONFIG", R"({"cluster": {"a\"b:1" : ["c\\"]}, "environment": "cloud"})"}},
      {{"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}},
      {{"SLURM_NTASKS", "4"}, {"WORLD_SIZE", "1"}},
      {{"WORLD_SIZE", "many"}},
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}},
      {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}},
      {{"SLURM_PROCID", "0"},
       {"SLURM_STEP_NUM_TASKS", "1"},
       {"SLURM_STEP_NODELIST", "s1"},
       {"SLURM_STEP_TASKS_PER_NODE", "1"}},
      {{"SM_HOSTS", R"(["algo-1"])"}, {"SM_CURRENT_HOST", "algo-1"}},
      {{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["v:1"]},
                            "task": {"type": "workerpool0", "index": 0}})"}},
      {{"HOSTNAME", "pod-0"},
       {"DISTRIBUTE_REPLICAS", "1"},
       {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
  };
  for (const Variables& variables : alone) CHECK(job_of_others(variables) == "");
}
