#include <tests/examples/mnist_cluster.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

ProcessClusterOptions servers_of(const Words& flags, bool chief = false, int servers = 2) {
  ProcessClusterOptions options = cluster_options(3, flags);
  options.parameter_servers = servers;
  options.chief = chief;
  return options;
}

/// How often "step N  accuracy" stands in the output, for every 100th step.
std::map<int, int> printed_steps(const std::string& output, int last) {
  std::map<int, int> counts;
  for (int step = 100; step <= last; step += 100) {
    const std::string text = "step " + std::to_string(step) + "  accuracy";
    for (size_t at = output.find(text); at != std::string::npos; at = output.find(text, at + 1))
      ++counts[step];
  }
  return counts;
}

}  // namespace

TEST_CASE("every 100th step of a job with parameter servers is printed once, in both styles",
          "[examples][parameter_server][multiproc]") {
  const bool chief = GENERATE(false, true);
  CAPTURE(chief);
  const TemporaryDirectory directory;
  const std::string json = directory / "report.json";
  ProcessCluster cluster(
      servers_of({"--model=tutorial", "--steps=200", "--batch_size=20", "--json=" + json}, chief));
  cluster.join();
  const auto counts = printed_steps(cluster.all_output(), 200);
  CHECK(counts == std::map<int, int>{{100, 1}, {200, 1}});
  const Json report = Json::parse(contents(json));
  CHECK(report["strategy"] == "parameter_server");
  CHECK(report["workers"] == 3);
  CHECK(report["steps"] == 200);
  CHECK(report["test_accuracy"].get<double>() > 0.8);
}

TEST_CASE("a job with parameter servers goes on from its checkpoint with another number of servers",
          "[examples][parameter_server][multiproc]") {
  const TemporaryDirectory directory;
  const Words flags{"--model=tutorial", "--batch_size=20", "--save_steps=40",
                    "--checkpoint_dir=" + directory.path()};
  ProcessCluster first(servers_of(flags + Words{"--steps=60"}));
  first.join();
  ProcessCluster second(servers_of(flags + Words{"--steps=100"}, false, 1));
  second.join();
  CHECK_THAT(second.all_output(), Contains("restored " + directory.path() + "/ckpt-2 at step 6"));
}
