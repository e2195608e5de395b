#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

SageMakerClusterResolver host(const std::string& hosts, const std::string& current) {
  return SageMakerClusterResolver({.variables = Environment(std::map<std::string, std::string>{
                                       {"SM_HOSTS", hosts}, {"SM_CURRENT_HOST", current}})});
}

SageMakerClusterResolver with_file(const TemporaryDirectory& directory, const std::string& text) {
  const std::string path = directory / "resourceconfig.json";
  std::ofstream(path) << text;
  return SageMakerClusterResolver(
      {.resource_config = path, .variables = Environment(std::map<std::string, std::string>{})});
}

}  // namespace

TEST_CASE("SageMaker's hosts are workers in the order of their names", "[cluster][sagemaker]") {
  const auto resolver = host(R"(["algo-2", "algo-1"])", "algo-2");
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"algo-1:2223", "algo-2:2223"}}});
  CHECK(resolver.task_type() == TaskType::Worker);
  CHECK(resolver.task_id() == 1);
  CHECK(resolver.master() == "algo-2:2223");
  CHECK(resolver.master("worker", 0, "grpc") == "grpc://algo-1:2223");
  CHECK(host(R"(["algo-1"])", "algo-1").master() == "");
}

TEST_CASE("a host outside of the list has no cluster", "[cluster][sagemaker]") {
  const auto resolver = host(R"(["algo-1"])", "algo-9");
  CHECK_FALSE(resolver.cluster_spec());
  CHECK_FALSE(resolver.task_type());
  CHECK_FALSE(resolver.task_id());
  CHECK(resolver.master() == "");
  CHECK_FALSE(host("", "algo-1").cluster_spec());
  CHECK_THROWS_SAYING(check_complete(resolver), InvalidArgumentError,
                      "this host, 'algo-9', is not among the 1 hosts");
  check_complete(host(R"(["algo-1"])", "algo-1"));
}

TEST_CASE("port and task of SageMaker may be said", "[cluster][sagemaker]") {
  const Environment variables(std::map<std::string, std::string>{
      {"SM_HOSTS", R"(["algo-1","algo-2"])"}, {"SM_CURRENT_HOST", "algo-1"}});
  SageMakerClusterResolver resolver({.port = 2222,
                                     .task_type = TaskType("ps"),
                                     .task_id = 0,
                                     .rpc_layer = "grpc",
                                     .environment = "e",
                                     .variables = variables});
  CHECK(resolver.cluster_spec().task_address("worker", 1) == "algo-2:2222");
  CHECK(resolver.task_type() == "ps");
  CHECK(resolver.environment() == "e");
  resolver.set_task_type("worker");
  CHECK(resolver.master() == "grpc://algo-1:2222");
}

TEST_CASE("containers without the toolkit have the file", "[cluster][sagemaker]") {
  const TemporaryDirectory directory;
  const auto resolver = with_file(directory, R"({"current_host": "algo-1",
      "hosts": ["algo-2", "algo-1"], "network_interface_name": "eth0"})");
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"algo-1:2223", "algo-2:2223"}}});
  CHECK(resolver.task_id() == 0);
}

TEST_CASE("what is not SageMaker is refused", "[cluster][sagemaker]") {
  const SageMakerClusterResolver nowhere(
      {.resource_config = "/nowhere/resourceconfig.json",
       .variables = Environment(std::map<std::string, std::string>{{"SM_HOSTS", "[]"}})});
  CHECK_THROWS_SAYING(nowhere.cluster_spec(), FailedPreconditionError,
                      "Not a SageMaker Environment");
  CHECK_THROWS_SAYING(nowhere.task_id(), FailedPreconditionError, "/nowhere/resourceconfig.json");
  CHECK_THROWS_SAYING(host("algo-1", "algo-1").cluster_spec(), InvalidArgumentError, "SM_HOSTS");
  CHECK_THROWS_SAYING(host("{}", "algo-1").cluster_spec(), InvalidArgumentError,
                      "SM_HOSTS must be a list of hosts");
  CHECK_THROWS_SAYING(host("[1]", "algo-1").cluster_spec(), InvalidArgumentError,
                      "SM_HOSTS: a host must be a string");
  const TemporaryDirectory directory;
  for (const char* text : {"", "[]", "{}", R"({"hosts": ["a"]})", R"({"current_host": "a"})",
                           R"({"hosts": ["a"], "current_host": 1})"}) {
    INFO(text);
    CHECK_THROWS_SAYING(with_file(directory, text).cluster_spec(), InvalidArgumentError,
                        "resourceconfig.json");
  }
}

/// The variables are those of sagemaker-training 5.1, whose mpirun gives all ranks the
/// SM_CURRENT_HOST of the first host.
TEST_CASE("ranks of the toolkit's mpirun meet at the first host", "[cluster][sagemaker]") {
  const Environment rank(std::map<std::string, std::string>{{"SM_HOSTS", R"(["algo-1","algo-2"])"},
                                                            {"SM_CURRENT_HOST", "algo-1"},
                                                            {"OMPI_COMM_WORLD_RANK", "3"},
                                                            {"OMPI_COMM_WORLD_SIZE", "4"},
                                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  const ImpliedResolver implied = default_resolver(rank);
  CHECK(implied.reason == "mpirun's variables (OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE)");
  CHECK(implied.resolver->cluster_spec().task_address("worker", 0).starts_with("algo-1:"));
  CHECK(implied.resolver->task_id() == 3);
}

TEST_CASE("a job of several processes on each host is refused where one was started",
          "[cluster][sagemaker]") {
  const SageMakerClusterResolver resolver(
      {.variables = Environment(std::map<std::string, std::string>{
           {"SM_HOSTS", R"(["algo-1","algo-2"])"},
           {"SM_CURRENT_HOST", "algo-1"},
           {"SM_HPS", "{}"},
           {"SM_FRAMEWORK_PARAMS", R"({"sagemaker_mpi_enabled": true,
                                  "sagemaker_mpi_num_of_processes_per_host": 2})"}})});
  CHECK_THROWS_SAYING(check_complete(resolver), InvalidArgumentError,
                      "asks for 2 processes on each host");
}
