#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <tests/support/check_throws.hpp>

#include <sstream>

using namespace distribute;

TEST_CASE("dense and sparse jobs stand in one spec", "[cluster][cluster_spec]") {
  const ClusterSpec dense{{"ps", {"ps0:2222", "ps1:2222"}},
                          {"worker", {"worker0:2222", "worker1:2222", "worker2:2222"}}};
  const ClusterSpec sparse{
      {"ps", {{0, "ps0:2222"}, {1, "ps1:2222"}}},
      {"worker", {{0, "worker0:2222"}, {1, "worker1:2222"}, {2, "worker2:2222"}}}};
  CHECK(dense == sparse);
  CHECK(dense.to_json() == R"({"ps":["ps0:2222","ps1:2222"],)"
                           R"("worker":["worker0:2222","worker1:2222","worker2:2222"]})");
  const ClusterSpec gap{{"worker", {{1, "worker1:2222"}, {3, "worker3:2222"}}}};
  CHECK(gap.to_json() == R"({"worker":{"1":"worker1:2222","3":"worker3:2222"}})");
  CHECK(ClusterSpec{{"worker", {}}}.to_json() == R"({"worker":{}})");
}

TEST_CASE("accessors know dense jobs, sparse jobs and empty ones", "[cluster][cluster_spec]") {
  const ClusterSpec spec{{"ps", {"ps0:2222", "ps1:2222"}},
                         {"sparse", {{0, "sparse0:2222"}, {3, "sparse3:2222"}}},
                         {"empty", {}}};
  CHECK(spec.jobs() == std::vector<std::string>{"empty", "ps", "sparse"});
  CHECK(spec.num_tasks("ps") == 2);
  CHECK(spec.num_tasks("sparse") == 2);
  CHECK(spec.num_tasks("empty") == 0);
  CHECK(spec.task_indices("ps") == std::vector<int>{0, 1});
  CHECK(spec.task_indices("sparse") == std::vector<int>{0, 3});
  CHECK(spec.task_address("sparse", 3) == "sparse3:2222");
  using Holes = std::vector<std::optional<std::string>>;
  CHECK(spec.job_tasks("sparse") ==
        Holes{"sparse0:2222", std::nullopt, std::nullopt, "sparse3:2222"});
  CHECK(spec.job_tasks("empty").empty());
}

TEST_CASE("unknown jobs and tasks are named with what there is", "[cluster][cluster_spec]") {
  const ClusterSpec spec{{"ps", {"ps0:2222"}}};
  check_throws<InvalidArgumentError>([&] { spec.num_tasks("unknown"); },
                                     "No such job in cluster: 'unknown'; it has 'ps'");
  check_throws<InvalidArgumentError>([&] { spec.task_indices("unknown"); },
                                     "No such job in cluster");
  check_throws<InvalidArgumentError>([&] { spec.job_tasks("unknown"); }, "No such job in cluster");
  check_throws<InvalidArgumentError>([&] { spec.task_address("unknown", 0); },
                                     "No such job in cluster");
  check_throws<InvalidArgumentError>([&] { spec.task_address("ps", 2); },
                                     "No task with index 2 in job 'ps'");
}

TEST_CASE("a spec is false without jobs only", "[cluster][cluster_spec]") {
  CHECK_FALSE(ClusterSpec());
  CHECK_FALSE(ClusterSpec::from_json("{}"));
  CHECK(ClusterSpec{{"job", {}}});
  CHECK(ClusterSpec{{"job", {"host:port"}}});
}

TEST_CASE("specs are equal when jobs, indices and addresses are", "[cluster][cluster_spec]") {
  CHECK(ClusterSpec() == ClusterSpec());
  CHECK(ClusterSpec{{"job", {"host:2222"}}} == ClusterSpec{{"job", {{0, "host:2222"}}}});
  CHECK(ClusterSpec{{"job", {"host:2222"}}} != ClusterSpec{{"job", {{1, "host:2222"}}}});
  CHECK(ClusterSpec{{"job", {"host:2222"}}} != ClusterSpec{{"job", {"host:2223"}}});
  CHECK(ClusterSpec{{"job", {"host:2222"}}} != ClusterSpec{{"other", {"host:2222"}}});
  CHECK(ClusterSpec{{"job", {}}} != ClusterSpec());
}

TEST_CASE("JSON gives the spec back", "[cluster][cluster_spec]") {
  const std::string text =
      R"({"chief":["[::1]:2222"],"ps":{"7":"h\u00f6st:1"},"worker":["a:1","b:2"]})";
  const ClusterSpec spec = ClusterSpec::from_json(text);
  CHECK(spec.task_address("chief", 0) == "[::1]:2222");
  CHECK(spec.task_address("ps", 7) == "höst:1");
  CHECK(ClusterSpec::from_json(spec.to_json()) == spec);
}

TEST_CASE("a spec refuses what no cluster can be", "[cluster][cluster_spec]") {
  check_throws<InvalidArgumentError>(
      [] {
        ClusterSpec{{"worker", {{-1, "a:1"}}}};
      },
      "job 'worker': the task index -1 is negative");
  check_throws<InvalidArgumentError>(
      [] {
        ClusterSpec{{"worker", {"a:1", "b\n:1"}}};
      },
      "job 'worker': the address of task 1 has a control character");
  check_throws<InvalidArgumentError>(
      [] {
        ClusterSpec{{std::string("a\0b", 3), {"a:1"}}};
      },
      "'a\\x00b'");
  check_throws<InvalidArgumentError>([] { ClusterSpec{{"worker", {"a\xff:1"}}}; }, "is not UTF-8");
  check_throws<InvalidArgumentError>(
      [] { ClusterSpec::from_json(R"({"worker":{"0":"a:1","00":"b:1"}})", "here"); },
      "here['worker']['00']: task 0 is named twice");
  check_throws<InvalidArgumentError>(
      [] { ClusterSpec::from_json(R"({"worker":{"-1":"a:1"}})", "here"); }, "here['worker']['-1']");
  check_throws<InvalidArgumentError>(
      [] { ClusterSpec::from_json(R"({"worker":["a:1",5]})", "here"); },
      "here['worker'][1]: Task address must be a string, not the number 5");
}

TEST_CASE("a huge task index costs no memory", "[cluster][cluster_spec]") {
  const ClusterSpec spec = ClusterSpec::from_json(R"({"worker":{"2147483647":"a:1"}})");
  CHECK(spec.num_tasks("worker") == 1);
  CHECK(spec.task_address("worker", 2147483647) == "a:1");
  check_throws<InvalidArgumentError>([&] { spec.job_tasks("worker"); }, "too large for a list");
}

TEST_CASE("task types compare by name and take any", "[cluster][task_type]") {
  const std::optional<TaskType> type = TaskType("123456");
  CHECK(type != TaskType::Chief);
  CHECK(type == "123456");
  CHECK(TaskType(TaskType::ParameterServer) == TaskType("ps"));
  CHECK(TaskType::Master == "master");
  std::ostringstream out;
  out << TaskType(TaskType::Evaluator);
  CHECK(out.str() == "evaluator");
}
