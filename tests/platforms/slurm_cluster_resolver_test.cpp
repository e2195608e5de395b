#include <distribute/base/error.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>

#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

using Names = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Variables step(const char* rank, const char* tasks, const char* nodes, const char* per_node) {
  return {{"SLURM_PROCID", rank},
          {"SLURM_STEP_NUM_TASKS", tasks},
          {"SLURM_STEP_NODELIST", nodes},
          {"SLURM_STEP_TASKS_PER_NODE", per_node}};
}

}  // namespace

TEST_CASE("hostlists expand in order", "[cluster][slurm_hostlist]") {
  const std::pair<const char*, Names> cases[] = {
      {"n1", {"n1"}},
      {"n[1-2],m5,o[3-4,6,7-9]", {"n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9"}},
      {"n[001-003]", {"n001", "n002", "n003"}},
      {"n[08-10]", {"n08", "n09", "n10"}},
      {"n[9-11]", {"n9", "n10", "n11"}},
      {"n2,n10,n1,n1", {"n2", "n10", "n1", "n1"}},
      {"rack[0-1]node[1-2]", {"rack0node1", "rack0node2", "rack1node1", "rack1node2"}},
      {"n[1-2]-ib", {"n1-ib", "n2-ib"}},
      {"[1-2]x", {"1x", "2x"}},
      {"gpu-a[1]b[02,4]c", {"gpu-a1b02c", "gpu-a1b4c"}},
      {"t02n13,t02n41", {"t02n13", "t02n41"}},
  };
  for (const auto& [list, hosts] : cases) {
    INFO(list);
    CHECK(expand_hostlist(list) == hosts);
  }
}

TEST_CASE("bad hostlists are refused with the place", "[cluster][slurm_hostlist]") {
  for (const char* list : {"", ",", "n1,", "n1,,n2", "n[1-2", "n1-2]", "n[1-2,m5", "n[]", "n[1-]",
                           "n[-2]", "n[a-b]", "n[1-2-3]", "n[[1]]", "n[1 -2]", "n 1", "n[2-1]",
                           "n[1,]", "n[1-9999999999999999999]", "n[1.5]"}) {
    INFO(list);
    CHECK_THROWS_SAYING(expand_hostlist(list), InvalidArgumentError, "Invalid hostlist format");
  }
  CHECK_THROWS_SAYING(expand_hostlist("n[3-1]"), InvalidArgumentError, "3-1 runs backwards");
}

TEST_CASE("huge hostlists are refused before they take memory", "[cluster][slurm_hostlist]") {
  for (const char* list : {"n[0-99999999999]", "n[0-999999999999999999]", "n[0-400]m[0-400]",
                           "a[0-99999],b", "a[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"}) {
    INFO(list);
    CHECK_THROWS_SAYING(expand_hostlist(list), InvalidArgumentError, "more than 100000 hosts");
  }
  CHECK(expand_hostlist("n[0-99999]").size() == 100'000);
  CHECK_THROWS_SAYING(expand_hostlist("n[0-99999]" + std::string(100'000, 'x')),
                      InvalidArgumentError, "too long for a host");
}

TEST_CASE("numbers of tasks expand in order", "[cluster][slurm_hostlist]") {
  CHECK(expand_tasks_per_node("3(x2),2,1") == std::vector<int>{3, 3, 2, 1});
  CHECK(expand_tasks_per_node("1") == std::vector<int>{1});
  CHECK(expand_tasks_per_node("2(x1)") == std::vector<int>{2});
  for (const char* list : {"", "1,", "a", "1(x2", "1(2)", "1x2", "1(x)", "(x2)", "-1", "1(x-2)",
                           "1(x2)3", "99999999999", "1(x99999999999)", "1(x100001)", "1 "}) {
    INFO(list);
    CHECK_THROWS_SAYING(expand_tasks_per_node(list), InvalidArgumentError,
                        "Invalid tasks-per-node list format");
  }
}

TEST_CASE("a step of Slurm becomes workers", "[cluster][slurm]") {
  const SlurmClusterResolver resolver(
      {.variables = step("3", "4", "t02n13,t02n41,t02n43,t02n44", "1(x4)")});
  CHECK(resolver.cluster_spec() ==
        ClusterSpec{{"worker", {"t02n13:8888", "t02n41:8888", "t02n43:8888", "t02n44:8888"}}});
  CHECK(resolver.task_type() == TaskType::Worker);
  CHECK(resolver.task_id() == 3);
  CHECK(resolver.rpc_layer() == "grpc");
  CHECK(resolver.master() == "grpc://t02n44:8888");
  CHECK(resolver.master("worker", 1, "test") == "test://t02n41:8888");
  CHECK(resolver.num_accelerators() == std::map<std::string, int>{{"GPU", 0}});
  CHECK(resolver.visible_gpus() == "");
}

TEST_CASE("ranks go to jobs in the order of their names", "[cluster][slurm]") {
  const std::map<std::string, int> jobs = {{"worker", 3}, {"ps", 1}};
  const SlurmClusterResolver first(
      {.jobs = jobs, .variables = step("0", "4", "t02n[13,41]", "2(x2)")});
  CHECK(first.cluster_spec() ==
        ClusterSpec{{"ps", {"t02n13:8888"}},
                    {"worker", {"t02n13:8889", "t02n41:8888", "t02n41:8889"}}});
  CHECK(first.get_task_info() == std::pair<TaskType, int>("ps", 0));
  const SlurmClusterResolver last(
      {.jobs = jobs, .port_base = 9000, .variables = step("3", "4", "t02n[13,41]", "2(x2)")});
  CHECK(last.get_task_info() == std::pair<TaskType, int>("worker", 2));
  CHECK(last.master() == "grpc://t02n41:9001");
}

TEST_CASE("GPUs of a node are dealt to its tasks", "[cluster][slurm]") {
  const Variables variables = step("1", "4", "t02n[13,41]", "2(x2)");
  const SlurmClusterResolver given(
      {.gpus_per_node = 4, .gpus_per_task = 2, .variables = variables});
  CHECK(given.visible_gpus() == "2,3");
  CHECK(given.num_accelerators() == std::map<std::string, int>{{"GPU", 2}});
  Variables more = variables;
  more["SLURM_GPUS_ON_NODE"] = "2";
  CHECK(SlurmClusterResolver({.variables = more}).visible_gpus() == "1");
  more["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5";
  CHECK(SlurmClusterResolver({.variables = more}).visible_gpus() == "3,4,5");
  more["CUDA_VISIBLE_DEVICES"] = "";
  CHECK(SlurmClusterResolver({.variables = more}).visible_gpus() == "");
  CHECK_THROWS_SAYING(
      SlurmClusterResolver({.gpus_per_node = 3, .gpus_per_task = 2, .variables = variables}),
      FailedPreconditionError, "Requested more GPUs per node than available");
}

TEST_CASE("hosts keep Slurm's order and are not sorted", "[cluster][slurm]") {
  const SlurmClusterResolver resolver({.variables = step("1", "2", "n2,n10", "1(x2)")});
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"n2:8888", "n10:8888"}}});
  CHECK(resolver.master() == "grpc://n10:8888");
}

TEST_CASE("tasks per node may be said", "[cluster][slurm]") {
  Variables variables = step("2", "4", "a,b", "unused");
  CHECK(SlurmClusterResolver({.tasks_per_node = 2, .variables = variables}).cluster_spec() ==
        ClusterSpec{{"worker", {"a:8888", "a:8889", "b:8888", "b:8889"}}});
  variables.erase("SLURM_STEP_NODELIST");
  variables.erase("SLURM_STEP_TASKS_PER_NODE");
  const SlurmClusterResolver said({.tasks_of_hosts = {{"x", 1}, {"y", 3}}, .variables = variables});
  CHECK(said.master() == "grpc://y:8889");
}

TEST_CASE("outside of a step the missing variable is named", "[cluster][slurm]") {
  for (const char* name : {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST",
                           "SLURM_STEP_TASKS_PER_NODE"}) {
    Variables variables = step("0", "1", "a", "1");
    variables.erase(name);
    CHECK_THROWS_SAYING(
        SlurmClusterResolver({.variables = variables}), FailedPreconditionError,
        std::string(name) + " not found in environment. Not running inside a SLURM step?");
  }
}

TEST_CASE("steps that do not fit together are refused", "[cluster][slurm]") {
  const auto check = [](const Variables& variables, const std::string& part) {
    CHECK_THROWS_SAYING(SlurmClusterResolver({.variables = variables}), FailedPreconditionError,
                        part);
  };
  check(step("0", "5", "a,b", "2(x2)"), "Requested 5 tasks but only 4 were assigned");
  check(step("0", "4", "a,b", "4"), "names 2 nodes, SLURM_STEP_TASKS_PER_NODE 1");
  check(step("4", "4", "a,b", "2(x2)"), "SLURM_PROCID is 4, but the step has 4 tasks");
  check(step("-1", "4", "a,b", "2(x2)"), "SLURM_PROCID is -1");
  CHECK_THROWS_SAYING(SlurmClusterResolver({.variables = step("zero", "1", "a", "1")}),
                      InvalidArgumentError, "SLURM_PROCID");
  CHECK_THROWS_SAYING(
      SlurmClusterResolver({.port_base = 65535, .variables = step("0", "2", "a", "2")})
          .cluster_spec(),
      InvalidArgumentError, "65536");
}

TEST_CASE("ranks that are not dealt node by node are refused", "[cluster][slurm]") {
  Variables variables = step("1", "4", "a,b", "2(x2)");
  variables["SLURM_NODEID"] = "0";
  variables["SLURM_LOCALID"] = "1";
  CHECK_NOTHROW(SlurmClusterResolver({.variables = variables}));
  variables["SLURM_NODEID"] = "1";  // as with --distribution=cyclic
  variables["SLURM_LOCALID"] = "0";
  CHECK_THROWS_SAYING(SlurmClusterResolver({.variables = variables}), FailedPreconditionError,
                      "--distribution=block");
}
