#include <distribute/base/error.hpp>
#include <distribute/launch/launcher.hpp>

#include <tests/support/catch.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::launch;
using Json = nlohmann::json;

namespace {

/// "chief 0@a worker 0@a"
std::string places(const Job& job) {
  std::string text;
  for (const Task& task : job.tasks())
    text += (text.empty() ? "" : " ") + task.name() + "@" + task.host.name;
  return text;
}

}  // namespace

TEST_CASE("TF_CONFIG names the whole cluster and the task", "[launch][job]") {
  const Job job({.workers = 2, .parameter_servers = 1, .chief = true});
  REQUIRE(job.tasks().size() == 4);
  std::set<std::string> addresses;
  for (const Task& task : job.tasks()) {
    const Json config = Json::parse(job.tf_config(task));
    CHECK(config["task"]["type"] == task.type);
    CHECK(config["task"]["index"] == task.index);
    CHECK(config["cluster"][task.type][size_t(task.index)] == task.address);
    CHECK(config["cluster"]["worker"].size() == 2);
    CHECK(config["cluster"]["chief"].size() == 1);
    CHECK(config["cluster"]["ps"].size() == 1);
    CHECK(config.size() == 2);
    CHECK(task.address.rfind("127.0.0.1:", 0) == 0);
    addresses.insert(task.address);
  }
  CHECK(addresses.size() == 4);
}

TEST_CASE("an evaluator is a task outside the cluster", "[launch][job]") {
  const Job job({.workers = 1, .evaluator = true});
  const Json config = Json::parse(job.tf_config(job.tasks()[1]));
  CHECK(config["task"]["type"] == "evaluator");
  CHECK_FALSE(config["cluster"].contains("evaluator"));
}

TEST_CASE("tasks fill the slots of hosts in order", "[launch][job]") {
  const Job job(
      {.workers = 3, .parameter_servers = 1, .chief = true, .hosts = {{"alpha", 2}, {"beta", 3}}});
  CHECK(places(job) == "chief 0@alpha worker 0@alpha worker 1@beta worker 2@beta ps 0@beta");
  CHECK(job.tasks()[3].local_rank == 1);
  CHECK(job.tasks()[3].local_size == 3);
  CHECK_FALSE(job.tasks()[0].local);
}

TEST_CASE("addresses on hosts count up from the port", "[launch][job]") {
  const Job job({.workers = 3, .hosts = {{"alpha", 2}, {"me@fd00::1", 1}}, .port = 2222});
  CHECK(job.tasks()[0].address == "alpha:2222");
  CHECK(job.tasks()[1].address == "alpha:2223");
  CHECK(job.tasks()[2].address == "[fd00::1]:2222");
}

TEST_CASE("more tasks than slots are refused unless asked for", "[launch][job]") {
  const std::vector<Host> hosts{{"alpha", 1}, {"beta", 2}};
  CHECK_THROWS_WITH(Job({.workers = 4, .hosts = hosts}), Contains("4 tasks and only 3 slots"));
  const Job job({.workers = 5, .hosts = hosts, .oversubscribe = true});
  CHECK(places(job) == "worker 0@alpha worker 1@alpha worker 2@beta worker 3@beta worker 4@beta");
}

TEST_CASE("jobs that cannot be are refused", "[launch][job]") {
  CHECK_THROWS_AS(Job({.workers = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(Job({.workers = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(Job({.workers = 1 << 30}), InvalidArgumentError);
  CHECK_THROWS_AS(Job({.workers = 1, .parameter_servers = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(Job({.workers = 1, .port = 65536}), InvalidArgumentError);
  CHECK_THROWS_AS(Job({.workers = 2, .hosts = {{"alpha", 2}}, .port = 65535}),
                  InvalidArgumentError);
  CHECK_THROWS_WITH(Job({.workers = 2, .hosts = {{"localhost", 1}, {"alpha", 1}}}),
                    Contains("'localhost' cannot be reached from the other hosts"));
}

TEST_CASE("every job has a token of its own, and tasks get it by the environment",
          "[launch][job]") {
  const Job one({.workers = 2}), other({.workers = 1});
  CHECK(one.token().size() == 64);
  CHECK(one.token().find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(one.token() != other.token());
  const auto environment = one.environment(one.tasks()[1]);
  CHECK(environment.at("DISTRIBUTE_JOB_TOKEN") == one.token());
  CHECK(environment.at("DISTRIBUTE_LOCAL_RANK") == "1");
  CHECK(environment.at("DISTRIBUTE_LOCAL_SIZE") == "2");
  CHECK(environment.at("TF_CONFIG") == one.tf_config(one.tasks()[1]));
}

TEST_CASE("a launcher on each host plans the same job and starts its own tasks", "[launch][job]") {
  JobOptions options{.workers = 4, .hosts = {{"algo-1", 2}, {"algo-2", 2}}, .port = 2223};
  options.this_host = "algo-2";
  options.token = "the token of all";
  const Job job(options);
  CHECK(places(job) == "worker 0@algo-1 worker 1@algo-1 worker 2@algo-2 worker 3@algo-2");
  std::string here;
  for (const Task& task : job.tasks()) {
    CHECK(task.local == !task.elsewhere);
    if (task.local) here += task.name() + " " + task.address + "\n";
  }
  CHECK(here == "worker 2 algo-2:2223\nworker 3 algo-2:2224\n");
  CHECK(job.environment(job.tasks()[3]).at("DISTRIBUTE_JOB_TOKEN") == "the token of all");
  const auto refused = [&](JobOptions wrong) { CHECK_THROWS_AS(Job(wrong), InvalidArgumentError); };
  JobOptions other = options;
  other.this_host = "algo-3";
  refused(other);
  other = options;
  other.port = 0;
  refused(other);
  other = options;
  other.token.clear();
  refused(other);
}
