#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/partial_environment.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

using namespace distribute;

namespace {

using Variables = std::map<std::string, std::string>;

/// Each with what the error must name.
const std::pair<Variables, const char*> kParts[] = {
    {{{"RANK", "1"}, {"WORLD_SIZE", "2"}},
     "RANK and WORLD_SIZE are set, as by torchrun, but MASTER_ADDR is not"},
    {{{"RANK", "1"}, {"MASTER_ADDR", "a"}}, "but WORLD_SIZE is not"},
    {{{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}, "but RANK is not"},
    {{{"WORLD_SIZE", "2"}}, "but RANK and MASTER_ADDR are not"},
    {{{"MASTER_ADDR", "a"}}, "MASTER_ADDR is set"},
    {{{"PET_NNODES", "2"}, {"PET_MASTER_ADDR", "a"}}, "but PET_NODE_RANK is not"},
    {{{"PET_NNODES", "1:4"}, {"PET_RDZV_ENDPOINT", "a:1"}},
     "but PET_NODE_RANK and PET_MASTER_ADDR are not"},
    {{{"HOROVOD_RANK", "0"}}, "but HOROVOD_SIZE is not"},
    {{{"HOROVOD_SIZE", "4"}}, "but HOROVOD_RANK is not"},
    {{{"OMPI_COMM_WORLD_RANK", "1"}}, "but OMPI_COMM_WORLD_SIZE is not"},
    {{{"MV2_COMM_WORLD_SIZE", "2"}}, "but MV2_COMM_WORLD_RANK is not"},
    {{{"PMI_RANK", "1"}}, "but PMI_SIZE is not"},
    {{{"PMIX_RANK", "1"}},
     "PMIX_RANK is set, as by PMIx, a launcher that this program cannot read"},
    {{{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "2"}}, "FLUX_TASK_RANK"},
    {{{"SM_HOSTS", "[\"a\",\"b\"]"}}, "but SM_CURRENT_HOST is not"},
    {{{"SM_CURRENT_HOST", "a"}}, "but SM_HOSTS is not"},
    {{{"TRAINING_JOB_NAME", "j"}, {"SAGEMAKER_BASE_DIR", "/nowhere"}},
     "/nowhere/input/config/resourceconfig.json"},
    {{{"DISTRIBUTE_REPLICAS", "3"}}, "but KUBERNETES_SERVICE_HOST is not"},
    {{{"DISTRIBUTE_SERVICE", "s"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
     "but DISTRIBUTE_REPLICAS is not"},
    // sbatch sets the first four in its script, salloc in its shell.
    {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}},
     "SLURM_NTASKS is 4"},
    {{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "2"}}, "start with srun"},
};

}  // namespace

TEST_CASE("a process with a part of a launcher's variables does not train alone",
          "[cluster][partial_environment]") {
  for (const auto& given : kParts) {
    const Variables& variables = given.first;
    INFO(given.second);
    CHECK_THAT(cluster_internal::partial_environment(variables),
               Catch::Matchers::Contains(given.second));
    check_throws<FailedPreconditionError>([&] { default_resolver(variables); }, given.second);
  }
}

TEST_CASE("a job of one process is no job", "[cluster][partial_environment]") {
  const Variables alone[] = {
      {},
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}},
      {{"PET_NNODES", "1"}, {"PET_NPROC_PER_NODE", "4"}},
      {{"PMI_SIZE", "1"}},
      {{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "1"}},
      {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"JOB_COMPLETION_INDEX", "3"}},
      {{"DISTRIBUTE_REPLICAS", "1"}},
      {{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_NUM_NODES", "1"}},
  };
  for (const Variables& variables : alone) {
    CHECK(cluster_internal::partial_environment(variables) == "");
    CHECK_FALSE(default_resolver(variables).resolver->cluster_spec());
  }
}

TEST_CASE("an environment that is whole makes up for a part of another",
          "[cluster][partial_environment]") {
  Variables both{{"OMPI_COMM_WORLD_RANK", "0"},
                 {"OMPI_COMM_WORLD_SIZE", "2"},
                 {"MASTER_ADDR", "mpi"},
                 {"SLURM_JOB_ID", "7"},
                 {"SLURM_NTASKS", "4"}};
  CHECK(default_resolver(both).resolver->world_size() == 2);
  both["TF_CONFIG"] =
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})";
  CHECK(default_resolver(both).reason == "TF_CONFIG");
}

TEST_CASE("an elastic horovodrun is refused", "[cluster][partial_environment]") {
  Variables variables{{"HOROVOD_RANK", "0"}, {"HOROVOD_SIZE", "1"}};
  CHECK(default_resolver(variables).resolver->world_size() == 1);
  variables["HOROVOD_ELASTIC"] = "1";
  check_throws<InvalidArgumentError>([&] { default_resolver(variables); },
                                     "distribute run --min-np");
}

TEST_CASE("SageMaker's file of hosts shows its job, as in the local mode of the SDK",
          "[cluster][partial_environment]") {
  const TemporaryDirectory base;
  Variables variables{{"TRAINING_JOB_NAME", "j"}, {"SAGEMAKER_BASE_DIR", base.path()}};
  CHECK(seen_of_sagemaker(variables) == "");
  std::filesystem::create_directories(base / "input/config");
  std::ofstream(base / "input/config/resourceconfig.json")
      << R"({"current_host": "algo-9", "hosts": ["algo-1", "algo-2"]})";
  CHECK(seen_of_sagemaker(variables) == "resourceconfig.json of SageMaker");
  check_throws<InvalidArgumentError>([&] { default_resolver(variables); },
                                     "'algo-9', is not among the 2 hosts");
  variables.erase("TRAINING_JOB_NAME");  // older versions of the SDK
  CHECK(seen_of_sagemaker(variables) == "resourceconfig.json of SageMaker");
}
