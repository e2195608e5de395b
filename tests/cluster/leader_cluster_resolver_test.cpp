#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/cluster/cluster_role.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

using Variables = std::map<std::string, std::string>;

TorchrunClusterResolver torchrun(const Variables& variables) {
  return TorchrunClusterResolver({.variables = Environment(variables)});
}
OpenMpiClusterResolver mpirun(const Variables& variables) {
  return OpenMpiClusterResolver({.variables = Environment(variables)});
}

}  // namespace

TEST_CASE("torchrun tells rank, size and the leader's address", "[cluster][torchrun]") {
  const auto resolver = torchrun(
      {{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "1234"}});
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"node0:1234"}}});
  CHECK(resolver.world_size() == 4);
  CHECK(resolver.task_type() == TaskType::Worker);
  CHECK(resolver.task_id() == 2);
  CHECK(resolver.master("worker", 0) == "node0:1234");
  const ClusterRole role = cluster_role(resolver);
  CHECK(role.cluster.num_tasks("worker") == 1);
  CHECK(role.id_in_cluster == 2);
  CHECK(role.worker_count == 4);
  CHECK(role.is_chief == false);
  CHECK(role.leader == "/job:worker/replica:0/task:0");
  CHECK_FALSE(role.master);  // its own address is not known
}

TEST_CASE("the leader stays away from torchrun's own port", "[cluster][torchrun]") {
  Variables variables = {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "::1"}};
  CHECK(torchrun(variables).cluster_spec().task_address("worker", 0) == "[::1]:29500");
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  CHECK(torchrun(variables).cluster_spec().task_address("worker", 0) == "[::1]:29501");
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  CHECK(torchrun(variables).cluster_spec().task_address("worker", 0) == "[::1]:29500");
  CHECK(torchrun(variables).master() == "");
}

TEST_CASE("one process per node is read from PET_ variables", "[cluster][torchrun]") {
  Variables variables = {{"PET_NNODES", "3"},
                         {"PET_NODE_RANK", "1"},
                         {"PET_MASTER_ADDR", "job-node-0-0.job"},
                         {"PET_MASTER_PORT", "29400"},
                         {"PET_NPROC_PER_NODE", "auto"}};
  CHECK(torchrun(variables).cluster_spec() == ClusterSpec{{"worker", {"job-node-0-0.job:29400"}}});
  CHECK(torchrun(variables).world_size() == 3);
  CHECK(torchrun(variables).task_id() == 1);
  variables["PET_NNODES"] = "3:3";
  CHECK(torchrun(variables).world_size() == 3);
  variables["PET_NNODES"] = "2:4";
  check_throws<FailedPreconditionError>([&] { torchrun(variables).cluster_spec(); }, "elastic");
  variables["PET_NNODES"] = "many";
  check_throws<InvalidArgumentError>([&] { torchrun(variables).cluster_spec(); }, "PET_NNODES");
}

TEST_CASE("mpirun of every MPI tells rank and size", "[cluster][open_mpi]") {
  const std::pair<const char*, const char*> names[] = {
      {"HOROVOD_RANK", "HOROVOD_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, size] : names) {
    INFO(rank);
    const auto resolver =
        mpirun({{rank, "1"}, {size, "3"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "77"}});
    CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"node0:77"}}});
    CHECK(resolver.world_size() == 3);
    CHECK(resolver.task_id() == 1);
  }
}

TEST_CASE("ranks of one host need no address", "[cluster][open_mpi]") {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  CHECK(mpirun(variables).cluster_spec() == ClusterSpec{{"worker", {"127.0.0.1:29500"}}});
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  check_throws<FailedPreconditionError>([&] { mpirun(variables).cluster_spec(); },
                                        "-x MASTER_ADDR=<host of rank 0>");
}

TEST_CASE("ranks and sizes that do not fit are refused", "[cluster][torchrun][open_mpi]") {
  const auto check = [](const char* rank, const char* size, const std::string& part) {
    INFO(rank << " of " << size);
    check_throws<InvalidArgumentError>(
        [&] {
          torchrun({{"RANK", rank}, {"WORLD_SIZE", size}, {"MASTER_ADDR", "a"}}).cluster_spec();
        },
        part);
    check_throws<InvalidArgumentError>(
        [&] {
          mpirun({{"PMI_RANK", rank}, {"PMI_SIZE", size}, {"MASTER_ADDR", "a"}}).cluster_spec();
        },
        part);
  };
  check("4", "4", "must be from 0 to 3");
  check("-1", "4", "must be from 0 to 3");
  check("0", "0", "must be from 1 to 1000000");
  check("0", "2000000000", "must be from 1 to 1000000");
  check("zero", "4", "wanted a whole number");
}

TEST_CASE("outside of a launcher the missing variable is named", "[cluster][torchrun][open_mpi]") {
  check_throws<FailedPreconditionError>([] { torchrun({}).task_id(); }, "RANK is not set");
  check_throws<FailedPreconditionError>([] { torchrun({{"RANK", "0"}}).task_id(); }, "WORLD_SIZE");
  check_throws<FailedPreconditionError>(
      [] {
        torchrun({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).task_id();
      },
      "MASTER_ADDR is not set");
  check_throws<FailedPreconditionError>([] { mpirun({}).task_id(); }, "Not started by mpirun?");
}

TEST_CASE("a leader at a loopback address of one of several hosts is refused",
          "[cluster][torchrun][open_mpi]") {
  Variables variables{
      {"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}};
  check_throws<InvalidArgumentError>([&] { check_complete(torchrun(variables)); },
                                     "only 2 of 4 ranks are on this host: set MASTER_ADDR");
  variables["LOCAL_WORLD_SIZE"] = "4";
  check_complete(torchrun(variables));
  variables["LOCAL_WORLD_SIZE"] = "2";
  variables["MASTER_ADDR"] = "head";
  check_complete(torchrun(variables));
  check_throws<InvalidArgumentError>(
      [] {
        check_complete(mpirun({{"OMPI_COMM_WORLD_RANK", "0"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                               {"MASTER_ADDR", "127.0.0.1"}}));
      },
      "rank 0 is to be found at 127.0.0.1:29500");
}
