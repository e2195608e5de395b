#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/wire_relay.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace distribute;
using namespace distribute::testing;
using Json = nlohmann::json;

namespace {

constexpr int64_t kWeights = 300'000;

/// Numbers that occur nowhere else.
std::vector<float> weights() {
  std::vector<float> values(kWeights);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i) + 0.5f);
  return values;
}

/// Some bytes out of the middle of the weights.
std::string piece_of_weights() {
  const auto values = weights();
  return std::string(reinterpret_cast<const char*>(values.data() + 1234), 32);
}

/// All tasks listen where the test says and know the others by the relays' addresses.
void go_through_relays(const ClusterTask& task) {
  Json argument = Json::parse(task.argument());
  const std::string bind = argument["ports"][task.type()][size_t(task.index())];
  const Json config = {{"cluster", argument["relays"]},
                       {"task", {{"type", task.type()}, {"index", task.index()}}}};
  ::setenv("TF_CONFIG", config.dump().c_str(), 1);
  ::setenv("DISTRIBUTE_BIND_ADDRESS", bind.c_str(), 1);
}

ClusterTasks workers_of_environment() {
  const TFConfigClusterResolver resolver;
  const ClusterSpec spec = resolver.cluster_spec();
  ClusterTasks tasks;
  for (const int index : spec.task_indices("worker"))
    tasks.members.push_back({"worker", index, spec.task_address("worker", index)});
  tasks.rank = resolver.task_id().value();
  return tasks;
}

/// The relays of a cluster, and what its tasks must know.
struct Relays {
  explicit Relays(const std::vector<std::string>& tasks) {
    for (const std::string& type : tasks) {
      ports.emplace_back();
      const net::Address target{"127.0.0.1", ports.back().number()};
      relays.push_back(std::make_unique<WireRelay>(target));
      argument["ports"][type].push_back(target.text());
      argument["relays"][type].push_back(relays.back()->address().text());
    }
  }
  std::string recorded() const {
    std::string all;
    for (const auto& relay : relays) all += relay->recorded(true) + relay->recorded(false);
    return all;
  }
  std::vector<launch::ReservedPort> ports;
  std::vector<std::unique_ptr<WireRelay>> relays;
  Json argument;
};

void check_wire(const std::string& wire, const std::string& token, bool encrypted) {
  CHECK(wire.size() > size_t(kWeights) * sizeof(float));
  CHECK(wire.find(token) == std::string::npos);
  CHECK((wire.find(piece_of_weights()) == std::string::npos) == encrypted);
  CHECK((wire.find("DSTB") == std::string::npos) == encrypted);  // the mark of plain frames
}

}  // namespace

/// Rank 0's weights go to the others and are summed.
DISTRIBUTE_CLUSTER_MAIN(sends_weights_to_workers) {
  go_through_relays(task);
  const auto runtime = ClusterRuntime::join(workers_of_environment());
  const auto group = collective::connect_workers(runtime, 1, {});
  std::vector<float> values = weights();
  if (runtime->rank() != 0) values.assign(values.size(), 0);
  group.workers->broadcast(values.data(), kWeights, DType::Float32, 0);
  if (values != weights()) throw InternalError("wrong weights");
  group.workers->all_reduce(values.data(), kWeights, DType::Float32);
  task.set_result(std::getenv("DISTRIBUTE_JOB_TOKEN"));
  group.leave();
}

/// Worker 0 puts the weights on the server, both workers fetch them.
DISTRIBUTE_CLUSTER_MAIN(sends_weights_to_server) {
  go_through_relays(task);
  const TFConfigClusterResolver resolver;
  const auto job = rpc::JobTask::start(
      {resolver.cluster_spec(), task.type(), task.index(), ClusterOptions::from_environment()});
  task.set_result(std::getenv("DISTRIBUTE_JOB_TOKEN"));
  if (task.type() == "ps") {
    parameter_server::ParameterServer(job, {.chief_timeout = 1}).join();
    return;
  }
  parameter_server::Client client(job, {.transport = parameter_server::Transport::Tcp});
  const std::vector ids = {client.create(
      {.key = "weights", .shape = {kWeights}}, [] { return Tensor({kWeights}, weights()); },
      parameter_server::Existing::Keep)};
  if (client.pull(ids)[0].to_vector() != weights()) throw InternalError("wrong weights");
  if (task.index() == 0) {
    client.wait("worker 1 has fetched", net::Deadline::after_seconds(60));
    client.finish_job();  // ends the server, so no task may need it any more
  } else {
    client.set("worker 1 has fetched", "");
  }
}

TEST_CASE(
    "the wire between three workers shows their weights only without encryption, and the "
    "token never",
    "[testing][encrypted_wire][multiproc]") {
  const bool encrypted = net::has_tls() && GENERATE(false, true);
  CAPTURE(encrypted);
  const Relays relays({"worker", "worker", "worker"});
  ProcessCluster cluster(
      {.workers = 3,
       .function = "sends_weights_to_workers",
       .argument = relays.argument.dump(),
       .environment = {{"DISTRIBUTE_TLS", encrypted ? "1" : "0"}, {"DISTRIBUTE_TRANSPORT", "tcp"}},
       .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  check_wire(relays.recorded(), outcomes[0].result.value(), encrypted);
}

TEST_CASE(
    "the wire between workers and a parameter server shows the weights only without "
    "encryption",
    "[testing][encrypted_wire][multiproc]") {
  const bool encrypted = net::has_tls() && GENERATE(false, true);
  CAPTURE(encrypted);
  const Relays relays({"ps", "worker", "worker"});
  ProcessCluster cluster({.workers = 2,
                          .parameter_servers = 1,
                          .function = "sends_weights_to_server",
                          .argument = relays.argument.dump(),
                          .environment = {{"DISTRIBUTE_TLS", encrypted ? "1" : "0"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  check_wire(relays.recorded(), outcomes[0].result.value(), encrypted);
}
