#include <distribute/cluster/detail/json_variable.hpp>
#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/logical_devices.hpp>

#include <memory>
#include <string>
#include <type_traits>

using namespace distribute;
using testing::ProcessCluster;

namespace {

/// How a program holds whatever it was given, and a class that a member or a parameter names.
struct Holder {
  std::unique_ptr<Strategy> chosen;
  MirroredStrategy<>& mirrored;
};

/// The strategy of an evaluator, which joins no other task.
std::string name_for(const ClusterSpec& cluster, const StrategyOptions& options = {}) {
  SimpleClusterResolver resolver(cluster, {.task_type = "evaluator", .task_id = 0});
  return make_strategy(resolver, options)->extended().name();
}

const ClusterSpec kWorkers({{"worker", {"a:1", "b:1"}}});
const ClusterSpec kServers({{"ps", {"p:1"}}, {"worker", {"a:1", "b:1"}}});

}  // namespace

TEST_CASE("make_strategy chooses by the jobs of the cluster", "[strategy][make_strategy]") {
  CHECK(name_for(ClusterSpec()) == "MirroredStrategy");
  CHECK(name_for(kWorkers) == "MultiWorkerMirroredStrategy");
  CHECK(name_for(kServers) == "ParameterServerStrategy");
  // Elastic workers may begin as one that knows of no other.
  StrategyOptions elastic;
  elastic.multi_worker.elastic = {.min_workers = 1, .max_workers = 2};
  CHECK(name_for(ClusterSpec(), elastic) == "MultiWorkerMirroredStrategy");
  check_throws<InvalidArgumentError>([&] { name_for(kServers, elastic); },
                                     "multi_worker.elastic is set, but the cluster has parameter");
}

TEST_CASE("make_strategy takes every logical device, or a number of replicas",
          "[strategy][make_strategy]") {
  const LogicalDevices devices(3);
  CHECK(make_strategy()->num_replicas_in_sync() == 3);
  SimpleClusterResolver alone{ClusterSpec()};
  CHECK(make_strategy<CpuDevice>(alone, {.num_replicas = 2})->num_replicas_in_sync() == 2);
  CHECK(make_strategy({.mirrored = {.devices = {"/cpu:1"}}})->num_replicas_in_sync() == 1);
  for (const ClusterSpec& cluster : {kWorkers, kServers}) {
    SimpleClusterResolver resolver(cluster, {.task_type = "evaluator", .task_id = 0});
    CHECK(make_strategy(resolver, {.num_replicas = 2})->num_replicas_in_sync() == 2);
  }
}

TEST_CASE("make_strategy refuses two numbers of replicas", "[strategy][make_strategy]") {
  check_throws<InvalidArgumentError>(
      [] { make_strategy({.num_replicas = 1, .multi_worker = {.num_replicas = 2}}); },
      "num_replicas is 1, but multi_worker.num_replicas is 2");
  check_throws<InvalidArgumentError>(
      [] { make_strategy({.num_replicas = 1, .parameter_server = {.num_replicas = 2}}); },
      "parameter_server.num_replicas is 2");
  check_throws<InvalidArgumentError>(
      [] { make_strategy({.num_replicas = 1, .mirrored = {.devices = {"/cpu:0"}}}); },
      "num_replicas or mirrored.devices");
  CHECK_NOTHROW(make_strategy({.num_replicas = 1, .mirrored = {.num_replicas = 1}}));
}

TEST_CASE("strategies can be members, parameters and results", "[strategy][make_strategy]") {
  MirroredStrategy strategy;
  static_assert(std::is_same_v<decltype(strategy), MirroredStrategy<>>);
  static_assert(std::is_same_v<MirroredStrategy<>, MirroredStrategy<DefaultDevice>>);
  const Holder holder{make_strategy(), strategy};
  CHECK(holder.chosen->num_replicas_in_sync() == 1);
  CHECK(holder.mirrored.num_replicas_in_sync() == 1);
}

/// Says what it was given and how often TF_CONFIG was parsed, and serves where it is a server.
DISTRIBUTE_CLUSTER_MAIN(makes_its_strategy) {
  const auto& parses = in_process<cluster_internal::JsonVariableParses>().count;
  const int64_t before = parses;
  const std::unique_ptr<Strategy> strategy = make_strategy();
  task.set_result(str_cat(to_string(*strategy), ", TF_CONFIG parsed ", parses - before, " times"));
  const auto job = ParameterServerJob::of(*strategy);
  if (job && job->is_parameter_server()) Server(*strategy).join();
}

TEST_CASE("make_strategy joins the workers of TF_CONFIG", "[strategy][make_strategy][multiproc]") {
  const auto outcomes = ProcessCluster({.workers = 2, .function = "makes_its_strategy"}).join();
  for (const auto& outcome : outcomes) {
    CHECK_THAT(*outcome.result,
               Catch::Contains("MultiWorkerMirroredStrategy with 2 replicas in sync"));
    CHECK_THAT(*outcome.result, Catch::EndsWith(", TF_CONFIG parsed 1 times"));
  }
}

TEST_CASE("make_strategy finds the servers of TF_CONFIG", "[strategy][make_strategy][multiproc]") {
  const auto outcomes =
      ProcessCluster({.workers = 1, .parameter_servers = 1, .function = "makes_its_strategy"})
          .join();
  for (const auto& outcome : outcomes) {
    CHECK_THAT(*outcome.result, Catch::Contains("ParameterServerStrategy"));
    CHECK_THAT(*outcome.result, Catch::EndsWith(", TF_CONFIG parsed 1 times"));
  }
}
