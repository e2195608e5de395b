/// How processes of other launchers become ranks.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/horovod/horovod_support.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/three_workers.hpp>

using namespace distribute;
using namespace distribute::testing;

namespace {

/// What a launcher calls rank, size and so on.
struct Names {
  const char *rank, *size, *local_size, *address, *port;
};

Names names_of(const std::string& launcher) {
  if (launcher == "torchrun")
    return {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
  if (launcher == "mpirun")
    return {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "UNUSED",
            "MASTER_PORT"};
  return {"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE", "UNUSED", "MASTER_PORT"};
}

/// Replaces TF_CONFIG by the launcher's variables; its first port is held for rank 0.
void pretend(const std::string& launcher) {
  const TFConfigClusterResolver resolver;
  const ClusterSpec spec = resolver.cluster_spec();
  const std::string first = spec.task_address("worker", 0);
  const Names names = names_of(launcher);
  const std::string size = std::to_string(spec.num_tasks("worker"));
  ::setenv(names.rank, std::to_string(*resolver.task_id()).c_str(), 1);
  ::setenv(names.size, size.c_str(), 1);
  ::setenv(names.local_size, size.c_str(), 1);
  ::setenv(names.address, "127.0.0.1", 1);
  ::setenv(names.port, first.substr(first.rfind(':') + 1).c_str(), 1);
  ::unsetenv("TF_CONFIG");
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(started_by) {
  if (task.argument() != "TF_CONFIG") pretend(task.argument());
  hvd::init();
  hvd::init();  // once more does nothing
  const float sum = hvd::allreduce(Tensor(float(hvd::rank())), {.op = hvd::Sum}).item<float>();
  task.set_result(str_cat(hvd::rank(), " of ", hvd::size(), ", local ", hvd::local_rank(), " of ",
                          hvd::local_size(), ", sum ", sum));
  if (hvd::rank() == 1) return;  // shuts down when the process ends
  hvd::shutdown();
  if (hvd::is_initialized()) throw InternalError("still initialized");
}

DISTRIBUTE_CLUSTER_MAIN(begins_again) {
  for (int turn = 0; turn < 3; ++turn) {
    hvd::init({.process_sets = {{0, 2}}});
    const hvd::ProcessSet set(1);
    const Tensor one(1.0f);
    const auto sum = [&](const hvd::ProcessSet& among) {
      return hvd::allreduce(one, {.op = hvd::Sum, .process_set = among}).item<float>();
    };
    if (sum({}) != 3 || (set.included() && sum(set) != 2)) throw InternalError("wrong sum");
    hvd::shutdown();
  }
  task.set_result("well");
}

DISTRIBUTE_CLUSTER_MAIN(one_of_another_version) {
  try {
    const TFConfigClusterResolver resolver;
    if (*resolver.task_id() < 2) return hvd::init();
    const auto tasks = cluster_place(cluster_role(resolver)).tasks;
    ClusterRuntime::join(tasks)->agree("the options of the program",
                                       R"({"api": "horovod", "version of distribute": "99.1.0"})");
  } catch (const FailedPreconditionError& error) {
    task.set_result(error.what());
  }
}

TEST_CASE("ranks are found in the variables of several launchers", "[horovod][basics]") {
  const std::string launcher = GENERATE("TF_CONFIG", "horovodrun", "torchrun", "mpirun");
  INFO(launcher);
  int rank = 0;
  for (const TaskOutcome& outcome : ProcessCluster(three_workers("started_by", launcher)).join()) {
    INFO(outcome.err);
    CHECK(outcome.result.value() == str_cat(rank, " of 3, local ", rank, " of 3, sum 3"));
    ++rank;
  }
}

TEST_CASE("a process can leave a job and join another", "[horovod][basics]") {
  for (const TaskOutcome& outcome : ProcessCluster(three_workers("begins_again", "")).join())
    CHECK(outcome.result.value() == "well");
}

TEST_CASE("ranks of different versions refuse each other", "[horovod][basics]") {
  for (const TaskOutcome& outcome :
       ProcessCluster(three_workers("one_of_another_version", "")).join())
    CHECK_THAT(outcome.result.value(), Contains("/version of distribute differs: \"" +
                                                std::string(kVersion) + "\" in worker 0"));
}

TEST_CASE("without a cluster there is one rank", "[horovod][basics]") {
  ::unsetenv("TF_CONFIG");
  hvd::init();
  CHECK(hvd::size() == 1);
  CHECK(hvd::rank() == 0);
  CHECK(hvd::local_size() == 1);
  CHECK(hvd::allreduce(Tensor(2.0f)).item<float>() == 2);
  CHECK(hvd::join() == 0);
  hvd::shutdown();
  CHECK_FALSE(hvd::is_initialized());
  CHECK_THROWS_SAYING(hvd::barrier(), FailedPreconditionError, "hvd::init()");
}
