#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/host_identity.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <unistd.h>

using distribute::check_tasks;
using distribute::job_fingerprint;

TEST_CASE("bad lists of tasks are refused", "[cluster][cluster_tasks]") {
  const auto error = [](ClusterTasks tasks) { return error_of([&] { check_tasks(tasks); }); };
  const ClusterMember a{"worker", 0, "a:1"}, b{"worker", 1, "b:1"}, same_address{"ps", 0, "a:1"};
  CHECK(error({{a, b}, 1}) == "");
  CHECK(error({{{"worker", 0, ""}}, 0}) == "");
  CHECK(contains(error({{{"worker", 0, "a:1 b:1"}}, 0}), "worker 0: address \"a:1 b:1\""));
  CHECK(contains(error({{a, b}, 2}), "rank 2 is not in a job of 2 tasks"));
  CHECK(contains(error({{a, b}, -1}), "rank -1"));
  CHECK(contains(error({{}, 0}), "rank 0 is not in a job of 0 tasks"));
  CHECK(contains(error({{a, b, a}, 0}), "the task worker 0 occurs twice, as task number 0 and 2"));
  CHECK(contains(error({{a, same_address}, 0}), "the address a:1 occurs twice"));
  CHECK(contains(error({{{"worker", 0, ""}, b}, 0}), "the leader, worker 0, has no address"));
  CHECK(contains(error({{a, {"worker", 1, "grpc://b:1"}}, 0}), "worker 1: address \"grpc://b:1\""));
}

TEST_CASE("fingerprints are equal for equal lists alone", "[cluster][cluster_tasks]") {
  const ClusterTasks tasks{{{"worker", 0, "a:1"}, {"worker", 1, "b:1"}}, 0};
  ClusterTasks same = tasks, moved = tasks, renamed = tasks;
  same.rank = 1;
  moved.members[1].address = "b:2";
  renamed.members[1].type = "ps";
  CHECK(job_fingerprint(tasks) == job_fingerprint(same));
  CHECK(job_fingerprint(tasks) != job_fingerprint(moved));
  CHECK(job_fingerprint(tasks) != job_fingerprint(renamed));
  CHECK(contains(job_fingerprint(tasks), "2 tasks led by worker 0 (a:1)"));
}

TEST_CASE("hosts are numbered in order of appearance", "[cluster][host_identity]") {
  using Numbers = std::vector<int>;
  CHECK(distribute::number_hosts({"x", "y", "x", "z", "y"}) == Numbers{0, 1, 0, 2, 1});
  CHECK(distribute::number_hosts({"", "", "x"}) == Numbers{0, 1, 2});
  CHECK(distribute::number_hosts({}) == Numbers{});
  CHECK(distribute::host_identity() == distribute::host_identity());
  if (::access("/proc/sys/kernel/random/boot_id", R_OK) == 0)
    CHECK(distribute::boot_id().size() == 36);
}

TEST_CASE("the first difference of descriptions is found at any depth", "[cluster][agreement]") {
  using distribute::cluster_internal::canonical_json;
  const auto difference = [](const std::vector<std::string>& texts) {
    std::vector<std::string> names, canonical;
    for (const std::string& text : texts) {
      names.push_back("r" + std::to_string(names.size()));
      canonical.push_back(canonical_json(text));
    }
    return distribute::cluster_internal::first_difference(names, canonical);
  };
  CHECK(difference({"{\"a\": 1, \"b\": 2}", "{\"b\":2,\"a\":1}"}) == "");
  CHECK(difference({"1", "2"}) == "the description differs: 1 in r0; 2 in r1");
  CHECK(difference({R"({"a":[{"x":1},{"x":2}]})", R"({"a":[{"x":1},{"x":3}]})"}) ==
        "/a/1/x differs: 2 in r0; 3 in r1");
  CHECK(difference({R"({"a":1})", R"({"a":1,"b":{"c":2}})", R"({"a":1})"}) ==
        "/b differs: nothing in r0, r2; {\"c\":2} in r1");
  CHECK(difference({R"({"dense/kernel":[3,3]})", R"({"dense/kernel":[3,4]})"}) ==
        "/dense/kernel differs: [3,3] in r0; [3,4] in r1");
  CHECK(difference({R"([[1],{"a":2}])", R"({"a":2})"}) ==
        "the description differs: [[1],{\"a\":2}] in r0; {\"a\":2} in r1");
  CHECK(difference({R"({"a":[1,2,3]})", R"({"a":"text"})", R"({"a":{"0":1}})"}) ==
        "/a differs: [1,2,3] in r0; \"text\" in r1; {\"0\":1} in r2");
  CHECK(difference({"[1,2,3,4,5,6,7,8,9]", "[1,2,3,4,5,6,7,8]"}) ==
        "/8 differs: 9 in r0; nothing in r1");
  CHECK(contains(error_of([] { canonical_json("{\"a\""); }), "INVALID_ARGUMENT"));
}
