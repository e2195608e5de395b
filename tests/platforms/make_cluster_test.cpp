#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/platforms/make_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using Hosts = std::vector<std::string>;

namespace {

template <typename Make>
void check_refused(const Make& make, const std::string& text) {
  check_throws<InvalidArgumentError>(make, text);
}

void check_refused(const ClusterHosts& hosts, const std::string& text) {
  check_refused([&] { make_cluster(hosts); }, text);
}

}  // namespace

TEST_CASE("hosts become addresses, several tasks of a host get ports one after the other",
          "[cluster][make_cluster]") {
  const ClusterSpec spec = make_cluster(
      {.chief = {"a"}, .worker = {"b", "a"}, .ps = {"a", "c:9000", "::1"}, .port = 3000});
  CHECK(spec == ClusterSpec{{"chief", {"a:3000"}},
                            {"worker", {"b:3000", "a:3001"}},
                            {"ps", {"a:3002", "c:9000", "[::1]:3000"}}});
  CHECK(make_cluster({.worker = {"a:2222", "b"}, .ps = {"a"}}) ==
        ClusterSpec{{"worker", {"a:2222", "b:2222"}}, {"ps", {"a:2223"}}});
}

TEST_CASE("every task's TF_CONFIG says what was meant", "[cluster][make_cluster]") {
  const ClusterSpec spec =
      make_cluster({.chief = {"a"}, .worker = {"b", "c"}, .ps = {"d"}, .evaluator = {"e"}});
  for (const auto& [job, tasks] : spec.as_dict())
    for (const auto& [index, address] : tasks.by_index()) {
      const TFConfigClusterResolver resolver(
          {.variables = Environment(
               std::map<std::string, std::string>{{"TF_CONFIG", tf_config_of(spec, job, index)}})});
      CHECK(resolver.task_type() == TaskType(job));
      CHECK(resolver.task_id() == index);
      CHECK_FALSE(resolver.cluster_spec().has_job("evaluator"));
      multi_worker_util::validate_cluster_spec(resolver.cluster_spec(), job, index);
      if (job != "evaluator") CHECK(resolver.cluster_spec().task_address(job, index) == address);
    }
}

TEST_CASE("hosts that make no cluster are refused with the reason", "[cluster][make_cluster]") {
  check_refused({.worker = {"a", "a"}},
                "'a' is named twice; for two tasks on it give both a port: "
                "a:2222,a:2223");
  check_refused({.chief = {"a:1"}, .worker = {"a:1"}},
                "chief 0 and worker 0 have the same address, a:1");
  check_refused({.worker = {"a:0"}}, "a port is a number from 1 to 65535");
  check_refused({.worker = {"a:x"}}, "a port is a number");
  check_refused({.worker = {"a b"}}, "is not HOST or HOST:PORT");
  check_refused({.worker = {"a'; rm -r /'"}}, "is not HOST or HOST:PORT");
  check_refused({.worker = {""}}, "is not HOST or HOST:PORT");
  check_refused({.worker = {"-x"}}, "is not HOST or HOST:PORT");
  check_refused({.chief = {"a", "b"}}, "one chief, not 2");
  check_refused({.worker = {"a"}, .evaluator = {"b", "c"}}, "one evaluator, not 2");
  check_refused({.ps = {"a"}}, "needs a chief or a worker");
  check_refused({.worker = {"a"}, .port = 70000}, "--port must be from 1 to 65535");
}

TEST_CASE("hosts of an allocation are dealt to roles in their order", "[cluster][make_cluster]") {
  const ClusterHosts dealt =
      deal_roles({"n1", "n2", "n3", "n4", "n5"}, {.chiefs = 1, .ps = 1, .evaluators = 1});
  CHECK(dealt.chief == Hosts{"n1"});
  CHECK(dealt.ps == Hosts{"n2"});
  CHECK(dealt.worker == Hosts{"n3", "n4"});
  CHECK(dealt.evaluator == Hosts{"n5"});
  CHECK(deal_roles({"n1"}, {.chiefs = 1}).worker.empty());
  check_refused([] { deal_roles({"n1"}, {.ps = 1}); }, "1 hosts: too few for");
  check_refused([] { deal_roles({"n1"}, {.ps = 2}); }, "too few");
}

TEST_CASE("Slurm's allocation names the hosts", "[cluster][make_cluster][slurm]") {
  using Variables = std::map<std::string, std::string>;
  const Environment job(Variables{{"SLURM_JOB_NODELIST", "n[09-10],m2"}});
  CHECK(hosts_of_slurm(job) == Hosts{"n09", "n10", "m2"});
  CHECK_THROWS_SAYING(hosts_of_slurm(Environment(Variables{})), FailedPreconditionError,
                      "SLURM_JOB_NODELIST is not set");
}

TEST_CASE("EMR's running instances are the hosts", "[cluster][make_cluster][emr]") {
  const std::string json = R"({"Instances": [
    {"Id": "ci-1", "PrivateDnsName": "ip-10-0-0-1.ec2.internal", "PrivateIpAddress": "10.0.0.1",
     "Status": {"State": "RUNNING", "Timeline": {}}},
    {"Id": "ci-2", "PrivateDnsName": "ip-10-0-0-2.ec2.internal", "Status": {"State": "TERMINATED"}},
    {"Id": "ci-3", "PrivateIpAddress": "10.0.0.3", "Status": {"State": "RUNNING"}}]})";
  CHECK(hosts_of_emr(json, "x") == Hosts{"ip-10-0-0-1.ec2.internal", "10.0.0.3"});
  check_refused([] { hosts_of_emr(R"({"Instances": []})", "x.json"); },
                "x.json: none of 0 instance(s) is RUNNING");
  check_refused([] { hosts_of_emr(R"({"Clusters": []})", "x.json"); }, "aws emr list-instances");
  check_refused([] { hosts_of_emr("<html>", "x.json"); }, "x.json: not valid JSON");
  check_refused([] { hosts_of_emr(R"({"Instances": [{"Id": "i"}]})", "x"); },
                "neither PrivateDnsName nor PrivateIpAddress");
}
