#include <distribute/base/config.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/skip_without_network.hpp>
#include <tests/support/source_dir.hpp>

#include <future>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

ProgramResult alone(const std::vector<std::string>& more, const std::string& environment) {
  std::vector<std::string> words = {"doctor", "--timeout=2"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program("distribute", words,
                     "env -u CLUSTER_SPEC -u SM_HOSTS -u SLURM_PROCID -u RANK -u PET_NNODES "
                     "-u DISTRIBUTE_REPLICAS -u DISTRIBUTE_JOB_TOKEN " +
                         environment);
}

/// The findings of a section and name.
std::vector<Json> findings(const Json& report, const std::string& section,
                           const std::string& name) {
  std::vector<Json> found;
  for (const Json& one : report["findings"])
    if (one["section"] == section && one["name"] == name) found.push_back(one);
  return found;
}

/// The text of the only finding of a section and name.
std::string text_of(const Json& report, const std::string& section, const std::string& name) {
  const auto found = findings(report, section, name);
  REQUIRE(found.size() == 1);
  return found[0]["text"];
}

/// What one command line says as each of three workers; `special` runs before it on worker 2.
std::vector<testing::TaskOutcome> three(const std::string& special, const std::string& timeout,
                                        const testing::NetworkNamespaces* network = nullptr) {
  skip_without_program("distribute");
  const std::string doctor = shell_quoted(distribute::testing::binary_dir() + "/distribute") +
                             " doctor --json --timeout=" + timeout;
  const std::string script = "case \"$TF_CONFIG\" in *'\"index\":2'*) " +
                             (special.empty() ? ":" : special) + ";; esac; exec " + doctor;
  testing::ProcessClusterOptions options{
      .workers = 3, .command = {"/bin/sh", "-c", script}, .deadline_seconds = 300};
  options.network = network;
  testing::ProcessCluster cluster(options);
  for (int i = 0; i < 3; ++i) cluster.expect_failure({"worker", i});
  return cluster.wait();
}

/// Two doctors, workers 0 and 1, and a third task that the test plays itself.
struct DoctorsAndGuest {
  net::Listener listener =
      value_or_throw(net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(5)));
  launch::ReservedPort ports[2];
  ClusterTasks tasks{.members = {{"worker", 0, local(ports[0].number())},
                                 {"worker", 1, local(ports[1].number())},
                                 {"worker", 2, listener.address().text()}},
                     .rank = 2};
  std::future<ProgramResult> doctors[2];

  static std::string local(int port) { return "127.0.0.1:" + std::to_string(port); }
  void start(const std::string& timeout) {
    skip_without_program("distribute");
    Json config = {{"task", {{"type", "worker"}}}};
    for (const ClusterMember& member : tasks.members)
      config["cluster"]["worker"].push_back(member.address);
    for (int i = 0; i < 2; ++i) {
      config["task"]["index"] = i;
      doctors[i] = std::async(std::launch::async, alone,
                              std::vector<std::string>{"--json", "--timeout=" + timeout},
                              "TF_CONFIG=" + shell_quoted(config.dump()));
    }
  }
  /// What a doctor found; the job must not run.
  Json report(int doctor) {
    const ProgramResult result = doctors[doctor].get();
    INFO(result.out << result.err);
    REQUIRE(Json::accept(result.out));
    CHECK(result.status == 1);
    return Json::parse(result.out);
  }
};

Json report_of(const testing::TaskOutcome& outcome) {
  INFO(outcome.out << outcome.err);
  REQUIRE(Json::accept(outcome.out));
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("the doctor finds a single process healthy", "[tools][doctor_command]") {
  const ProgramResult result = alone({"--json"}, "-u TF_CONFIG");
  CHECK(result.status == 0);
  const Json report = Json::parse(result.out);
  CHECK(report["healthy"] == true);
  const Json cores = findings(report, "host", "cores").at(0);
  CHECK(cores["data"]["allowed"].get<int>() >= 1);
  CHECK(cores["data"]["usable"].get<double>() <= cores["data"]["allowed"].get<double>());
  CHECK(findings(report, "host", "memory").at(0)["data"]["total_bytes"].get<double>() > 1e8);
  CHECK(findings(report, "host", "open files").size() == 1);
  CHECK_THAT(findings(report, "libraries", "Eigen").at(0)["text"].get<std::string>(),
             Contains("3."));
  CHECK_THAT(alone({}, "-u TF_CONFIG").out, Contains("Nothing keeps the job from running."));
}

TEST_CASE("the doctor says what is wrong with TF_CONFIG", "[tools][doctor_command]") {
  const auto with = [](const std::string& text) {
    const ProgramResult result = alone({}, "TF_CONFIG=" + shell_quoted(text));
    CHECK(result.status == 1);
    return result.out;
  };
  CHECK_THAT(with("{\"cluster\": "), Contains("FAIL  description") && Contains("TF_CONFIG"));
  CHECK_THAT(with(R"({"cluster": {"worker": ["a:1", "b:1"]}})"), Contains("FAIL  this task"));
  CHECK_THAT(with(R"({"cluster": {"worker": ["127.0.0.1:1", "127.0.0.1:1"]},
                      "task": {"type": "worker", "index": 0}})"),
             Contains("FAIL  addresses"));
  CHECK_THAT(with(R"({"cluster": {"worker": ["10.0.0.1:1", "10.0.0.2:1"]},
                      "task": {"type": "worker", "index": 0}})"),
             Contains("FAIL  job token") && Contains("DISTRIBUTE_JOB_TOKEN"));
}

TEST_CASE("the doctor names the step at which a port fails", "[tools][doctor_command]") {
  const auto taken = net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(5));
  REQUIRE(taken.ok());
  const launch::ReservedPort port(0);
  const std::string config = R"({"cluster": {"worker": [")" + taken->address().text() +
                             R"(", "127.0.0.1:)" + std::to_string(port.number()) +
                             R"("]}, "task": {"type": "worker", "index": 0}})";
  const ProgramResult result = alone({}, "TF_CONFIG=" + shell_quoted(config));
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Contains("FAIL  listen") && Contains("another process"));
}

// "127.1" stands for a host's name that /etc/hosts calls a loopback address.
TEST_CASE("the doctor tells of names that are loopback addresses, and of tasks at such addresses",
          "[tools][doctor_command]") {
  const auto report = [](const char* task) {
    const launch::ReservedPort ports[2];
    const Json config = {{"cluster",
                          {{"worker",
                            {"127.1:" + std::to_string(ports[0].number()),
                             "localhost:" + std::to_string(ports[1].number())}}}},
                         {"task", {{"type", "worker"}, {"index", std::stoi(task)}}}};
    return Json::parse(alone({"--json"}, "DISTRIBUTE_JOB_TOKEN=0123456789abcdef0123 TF_CONFIG=" +
                                             shell_quoted(config.dump()))
                           .out);
  };
  for (const char* task : {"0", "1"}) {
    const auto found = findings(report(task), "cluster", "addresses");
    std::string all;
    for (const Json& one : found) all += one.dump();
    CHECK_THAT(all, Contains("worker 1 (localhost:") && Contains("has a loopback address"));
    CHECK_THAT(all, Contains("this host's /etc/hosts says 127.0.0.1"));
    CHECK_THAT(all, Contains(std::string(task) == "0" ? "listens on all addresses"
                                                      : "correct it unless the task runs here"));
  }
}

TEST_CASE("three tasks measure the network between them", "[tools][doctor_command][multiproc]") {
  for (const auto& outcome : three("", "20")) {
    const Json report = report_of(outcome);
    CHECK(outcome.status.code == 0);
    CHECK(report["task"] == outcome.name);
    const auto lines = findings(report, "network", "line");
    REQUIRE(lines.size() == 3);
    for (const Json& line : lines) {
      CHECK(line["data"]["latency_us_p50"].get<double>() > 0);
      CHECK(line["data"]["latency_us_p99"] >= line["data"]["latency_us_p50"]);
      CHECK(line["data"]["bytes_per_second"].get<double>() > 1e6);
      CHECK(line["data"]["bytes_per_second_back"].get<double>() > 1e6);
      CHECK(line["data"]["mtu"].get<int>() > 500);
      CHECK(line["data"]["one_host"] == true);
    }
    const Json limit = findings(report, "limits", "network").at(0);
    CHECK(limit["data"]["resnet50_seconds_per_step"].get<double>() ==
          Approx(25'557'032 * 4.0 * 4 / 3 / limit["data"]["bytes_per_second"].get<double>()));
    const auto crowded = findings(report, "host", "tasks per core");
    CHECK(crowded.size() == size_t(3 > core_limits().usable()));
    if (!crowded.empty())
      CHECK_THAT(crowded[0]["text"].get<std::string>(),
                 Contains("3 tasks with ") && Contains(" each share "));
  }
}

TEST_CASE("a task with another token is found from both sides",
          "[tools][doctor_command][multiproc]") {
  const auto outcomes = three("export DISTRIBUTE_JOB_TOKEN=another-than-the-others", "2");
  for (int i = 0; i < 3; ++i) {
    const Json report = report_of(outcomes[size_t(i)]);
    CHECK(outcomes[size_t(i)].status.code == 1);
    const auto failed = findings(report, "reachability", "handshake");
    REQUIRE(failed.size() == (i == 2 ? 2u : 1u));
    CHECK_THAT(failed[0]["text"].get<std::string>(), Contains("token"));
    if (i < 2) CHECK_THAT(failed[0]["text"].get<std::string>(), Contains("to worker 2"));
  }
}

TEST_CASE("a task that is not there is found by the others", "[tools][doctor_command][multiproc]") {
  const auto outcomes = three("exit 0", "1");
  for (int i = 0; i < 2; ++i) {
    const Json report = report_of(outcomes[size_t(i)]);
    CHECK(outcomes[size_t(i)].status.code == 1);
    CHECK_THAT(text_of(report, "reachability", "connect"),
               Contains("to worker 2") && Contains("no program listens there"));
  }
}

TEST_CASE("hosts apart have their lines, and a cut cable is seen",
          "[tools][doctor_command][multiproc]") {
  const testing::NetworkOptions hosts{.hosts = 3};
  SKIP_WITHOUT_NETWORK(hosts);
  testing::NetworkNamespaces network(hosts);
  const auto whole = three("", "20", &network);
  const Json report = report_of(whole[0]);
  CHECK(whole[0].status.code == 0);
  for (const Json& line : findings(report, "network", "line")) {
    CHECK(line["data"]["one_host"] == false);
    CHECK(line["data"]["mtu"] == 1500);
  }
  network.cut(2);
  const auto cut = three("", "2", &network);
  CHECK_THAT(text_of(report_of(cut[0]), "reachability", "connect"), Contains("to worker 2"));
}

TEST_CASE("the delay of a network is in the latency", "[tools][doctor_command][multiproc]") {
  const testing::NetworkOptions hosts{.hosts = 3, .bits_per_second = 0, .delay_ms = 3};
  SKIP_WITHOUT_NETWORK(hosts);
  const testing::NetworkNamespaces network(hosts);
  const auto outcomes = three("", "20", &network);
  for (const Json& line : findings(report_of(outcomes[0]), "network", "line"))
    CHECK(line["data"]["latency_us_p50"].get<double>() >= 12'000);  // there and back, two cables
}

TEST_CASE("packets that vanish between two tasks are found by both, and told by the third",
          "[tools][doctor_command][multiproc]") {
  const testing::NetworkOptions hosts{.hosts = 3};
  SKIP_WITHOUT_NETWORK(hosts);
  testing::NetworkNamespaces network(hosts);
  network.drop(1, 2);
  network.drop(2, 1);
  const auto outcomes = three("", "2", &network);
  for (int i = 1; i < 3; ++i) {
    CHECK_THAT(text_of(report_of(outcomes[size_t(i)]), "reachability", "connect"),
               Contains("to worker " + std::to_string(3 - i)) && Contains("10.77.0.") &&
                   Contains("a firewall drops the packets"));
  }
  const Json first = report_of(outcomes[0]);
  CHECK(outcomes[0].status.code == 1);
  CHECK(findings(first, "reachability", "connect").empty());
  for (const std::string other : {"1", "2"}) {
    CHECK_THAT(text_of(first, "other tasks", "worker " + other),
               Contains("a firewall drops the packets"));
  }
  // What can be measured is.
  const auto lines = findings(first, "network", "line");
  REQUIRE(lines.size() == 2);
  for (const Json& line : lines) CHECK(line["data"]["from"] == 0);
}

TEST_CASE("packets that are too large for one cable are found, with the cure",
          "[tools][doctor_command][multiproc]") {
  const testing::NetworkOptions hosts{.hosts = 3};
  SKIP_WITHOUT_NETWORK(hosts);
  testing::NetworkNamespaces network(hosts);
  network.drop_larger(2, 1300);
  const auto outcomes = three("", "20", &network);
  std::set<std::string> pairs;  // each has two ends: one gives up first, and knows why
  for (const auto& outcome : outcomes) {
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status.code == 1);
    for (const Json& line : findings(report_of(outcome), "network", "connection")) {
      const auto text = line["text"].get<std::string>();
      CHECK_THAT(text, Contains("worker 2"));
      if (text.find("large ones do not") != std::string::npos &&
          text.find("mtu 1400") != std::string::npos)
        pairs.insert(text.find("worker 0") != std::string::npos ? "worker 0" : "worker 1");
    }
  }
  CHECK(pairs.size() == 2);
  CHECK(findings(report_of(outcomes[0]), "network", "line").size() == 1);  // of workers 0 and 1
  CHECK(!findings(report_of(outcomes[2]), "network", "connection").empty());
}

TEST_CASE("a task with another version of the protocol is named, with both versions and the cure",
          "[tools][doctor_command][multiproc]") {
  DoctorsAndGuest job;
  ClusterOptions options;
  options.log = [](const std::string&) {};
  TaskServer guest(
      std::move(job.listener),
      {.self = {"worker", 2, 7}, .job = job_fingerprint(job.tasks), .token = "", .version = 9},
      options);
  guest.start();
  job.start("1");
  for (int i = 0; i < 2; ++i) {
    const std::string self = "worker " + std::to_string(i);
    CHECK_THAT(text_of(job.report(i), "reachability", "handshake"),
               Contains("to worker 2 (" + job.tasks.self().address + ")") &&
                   Contains("worker 2 runs distribute " + std::string(kVersion) +
                            " with protocol version 9 and was asked in version 2") &&
                   Contains(": run the same build in all tasks; " + self + " runs distribute " +
                            kVersion));
  }
}

TEST_CASE("a task with another version of the library is named, with both versions and the cure",
          "[tools][doctor_command][multiproc]") {
  DoctorsAndGuest job;
  job.start("20");
  ClusterOptions options;
  options.log = [](const std::string&) {};
  auto guest = ClusterRuntime::join(job.tasks, options, std::move(job.listener));
  const auto others =
      guest->all_gather("doctor introduction", R"({"version": "99.1.0", "unreached": []})");
  guest.reset();
  REQUIRE(others.size() == 3);
  CHECK(Json::parse(others[0])["version"] == kVersion);
  for (int i = 0; i < 2; ++i) {
    const Json report = job.report(i);
    CHECK(text_of(report, "cluster", "versions") ==
          str_cat("worker 0 runs distribute ", kVersion,
                  " and worker 2 99.1.0: run the same build in all tasks"));
    CHECK(findings(report, "network", "not measured").empty());
  }
}

TEST_CASE("the doctor can require a GPU and names what is missing for one",
          "[tools][doctor_command]") {
  const ProgramResult result = alone({"--json", "--require_gpu"}, "CUDA_VISIBLE_DEVICES=");
  CHECK(result.status == 1);
  const Json report = Json::parse(result.out);
  CHECK(findings(report, "GPU", "none").at(0)["mark"] == "FAIL");
  for (const char* name : {"CUDA driver", "NVRTC", "cuBLASLt", "cuDNN", "NCCL"}) {
    INFO(name);
    const Json finding = findings(report, "libraries", name).at(0);
    CHECK((finding["mark"] == "ok" || finding["mark"] == "FAIL"));
    CHECK_FALSE(finding["text"].get<std::string>().empty());
  }
  CHECK(findings(report, "libraries", "CUDA driver").at(0)["mark"] == "FAIL");
}
