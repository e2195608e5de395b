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
     "the environment has TF_CONFIG with 3 tasks (chief: 1, worker: 2), of which this is worker 1, "
     "but the program makes no strategy for several. Use MultiWorkerMirroredStrategy or "
     "make_strategy()"},
    {{{"TF_CONFIG", kServers}}, "Use ParameterServerStrategy or make_strategy()"},
    {{{"TF_CONFIG", "{"}}, "TF_CONFIG: not valid JSON"},
    {{{"TF_CONFIG", R"({"task": {"type": "worker", "index": 1}})"}}, "no cluster names"},
    {{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}},
     "mpirun's variables (OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE) with 4 tasks, of which "
     "this is worker 1"},
    {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}},
     "a job that the program does not join: mpirun does not tell where rank 0 runs"},
    {{{"RANK", "1"}, {"WORLD_SIZE", "2"}}, "MASTER_ADDR is not: set what is missing"},
    {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}}, "start with srun"},
    {{{"SLURM_PROCID", "0"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_STEP_NODELIST", "s[1-2]"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}},
     "Slurm"},
    {{{"SM_HOSTS", R"(["algo-1","algo-2"])"}, {"SM_CURRENT_HOST", "algo-1"}}, "SageMaker"},
    {{{"HOSTNAME", "pod-1"}, {"DISTRIBUTE_REPLICAS", "2"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
     "Kubernetes"},
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
