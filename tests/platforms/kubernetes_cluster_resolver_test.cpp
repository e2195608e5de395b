#include <distribute/base/error.hpp>
#include <distribute/platforms/kubernetes_cluster_resolver.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

std::string pod(const std::string& name, const std::string& ip,
                const std::string& phase = "Running") {
  return R"({"metadata": {"name": ")" + name + R"("}, "status": {"phase": ")" + phase +
         R"(", "hostIP": ")" + ip + R"(", "podIP": "10.1.)" + ip + R"("}})";
}

std::string pods(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + item;
  return R"({"kind": "PodList", "apiVersion": "v1", "items": [)" + list + "]}";
}

KubernetesClusterResolver answering(const std::string& text) {
  return KubernetesClusterResolver({.list_pods = [text](const std::string&) { return text; }});
}

KubernetesClusterResolver in_pod(std::map<std::string, std::string> variables,
                                 const std::string& pod_info = "/nowhere") {
  return KubernetesClusterResolver(
      {.pod_info = pod_info, .variables = Environment(std::move(variables))});
}

}  // namespace

TEST_CASE("one pod that runs is the cluster", "[cluster][kubernetes]") {
  std::string asked;
  KubernetesClusterResolver resolver({.list_pods = [&](const std::string& selector) {
    asked = selector;
    return pods({pod("tensorflow-abc123", "10.1.2.3")});
  }});
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"10.1.2.3:8470"}}});
  CHECK(asked == "job-name=tensorflow");
  CHECK_FALSE(resolver.task_type());
  CHECK_FALSE(resolver.task_id());
  CHECK(resolver.master() == "");
  CHECK(resolver.master("worker", 0) == "grpc://10.1.2.3:8470");
  resolver.set_task_type("worker");
  resolver.set_task_id(0);
  CHECK(resolver.master({}, {}, "http") == "http://10.1.2.3:8470");
}

TEST_CASE("a pod that does not run is named with its phase", "[cluster][kubernetes]") {
  CHECK_THROWS_SAYING(
      answering(pods({pod("a", "1.1.1.1"), pod("b", "2.2.2.2", "Failed")})).cluster_spec(),
      FailedPreconditionError, "Pod \"b\" is not running; phase: \"Failed\"");
}

TEST_CASE("pods are sorted within a selector, selectors stay in order", "[cluster][kubernetes]") {
  const KubernetesClusterResolver resolver(
      {.list_pods =
           [](const std::string& selector) {
             if (selector == "job-name=b")
               return pods({pod("b-1", "4.4.4.4"), pod("b-0", "3.3.3.3")});
             if (selector == "job-name=a")
               return pods({pod("a-1", "2.2.2.2"), pod("a-0", "fd00::1")});
             return pods({});
           },
       .job_to_label_mapping = {{"worker", {"job-name=b", "job-name=a"}}, {"ps", {"none"}}},
       .tf_server_port = 9000});
  CHECK(resolver.cluster_spec() ==
        ClusterSpec{{"worker", {"3.3.3.3:9000", "4.4.4.4:9000", "[fd00::1]:9000", "2.2.2.2:9000"}},
                    {"ps", {}}});
}

TEST_CASE("every answer asks again", "[cluster][kubernetes]") {
  int calls = 0;
  const KubernetesClusterResolver resolver({.list_pods = [&](const std::string&) {
    return pods({pod("a", std::to_string(++calls) + ".0.0.0")});
  }});
  CHECK(resolver.cluster_spec().task_address("worker", 0) == "1.0.0.0:8470");
  CHECK(resolver.cluster_spec().task_address("worker", 0) == "2.0.0.0:8470");
}

TEST_CASE("the pod's own address may be used", "[cluster][kubernetes]") {
  const KubernetesClusterResolver resolver(
      {.list_pods = [](const std::string&) { return pods({pod("a", "2.3")}); },
       .use_pod_ip = true});
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker", {"10.1.2.3:8470"}}});
}

TEST_CASE("answers that are no list of pods are refused", "[cluster][kubernetes]") {
  const auto check = [](const std::string& text, const std::string& part) {
    CHECK_THROWS_SAYING(answering(text).cluster_spec(), InvalidArgumentError, part);
  };
  check("", "pods of job-name=tensorflow: an empty text");
  check("<html>", "not valid JSON");
  check("[]", "must be an object");
  check("{}", "no list `items`");
  check(R"({"items": {}})", "no list `items`");
  check(R"({"items": [{"metadata": {"name": 5}}]})", "metadata.name must be a string");
  check(R"({"items": [{"metadata": {"name": "a"}, "status": {"phase": "Running"}}]})",
        "pod 'a' has no status.hostIP");
  check_throws<FailedPreconditionError>([&] { answering(R"({"items": [5]})").cluster_spec(); },
                                        "is not running");
}

TEST_CASE("a pod of a StatefulSet knows its place", "[cluster][kubernetes]") {
  const auto resolver = in_pod({{"HOSTNAME", "trainer-2"}, {"DISTRIBUTE_REPLICAS", "3"}});
  CHECK(resolver.task_type() == TaskType::Worker);
  CHECK(resolver.task_id() == 2);
  CHECK(resolver.cluster_spec() == ClusterSpec{{"worker",
                                                {"trainer-0.trainer:8470", "trainer-1.trainer:8470",
                                                 "trainer-2.trainer:8470"}}});
  CHECK(resolver.master() == "grpc://trainer-2.trainer:8470");
  const KubernetesClusterResolver named(
      {.replicas = 1,
       .service = "svc",
       .kubernetes_namespace = "ml",
       .pod_info = "/nowhere",
       .variables = Environment(
           std::map<std::string, std::string>{{"HOSTNAME", "a-b-0.svc.ml.svc.cluster.local"}})});
  CHECK(named.cluster_spec() == ClusterSpec{{"worker", {"a-b-0.svc.ml.svc:8470"}}});
}

TEST_CASE("the index of an indexed Job wins over the name", "[cluster][kubernetes]") {
  const auto resolver = in_pod({{"HOSTNAME", "job-0-4"},
                                {"JOB_COMPLETION_INDEX", "4"},
                                {"POD_NAMESPACE", "ml"},
                                {"DISTRIBUTE_REPLICAS", "5"}});
  CHECK(resolver.task_id() == 4);
  CHECK(resolver.cluster_spec().task_address("worker", 4) == "job-0-4.job-0.ml.svc:8470");
}

TEST_CASE("labels of the downward API are read", "[cluster][kubernetes]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "labels") << "apps.kubernetes.io/pod-index=\"7\"\n"
                                      << "jobset.sigs.k8s.io/jobset-name=\"set\"\n";
  const auto resolver =
      in_pod({{"HOSTNAME", "set-node-0-7"}, {"DISTRIBUTE_REPLICAS", "8"}}, directory.path());
  CHECK(resolver.task_id() == 7);
  CHECK(resolver.cluster_spec().task_address("worker", 7) == "set-node-0-7.set:8470");
  const auto pairs = cluster_internal::parse_pod_info(
      "a=\"1\"\nb=\"x \\\"y\\\" \\\\ \\n\"\nbroken\nc=\"\nd=\"\"\n=\"e\"");
  CHECK(pairs == std::map<std::string, std::string>{
                     {"a", "1"}, {"b", "x \"y\" \\ \n"}, {"d", ""}, {"", "e"}});
}

TEST_CASE("a pod without name or count says what is missing", "[cluster][kubernetes]") {
  CHECK_THROWS_SAYING(in_pod({}).task_id(), FailedPreconditionError, "HOSTNAME");
  CHECK_THROWS_SAYING(in_pod({{"HOSTNAME", "trainer-x"}}).task_id(), FailedPreconditionError,
                      "'trainer-x'");
  CHECK_THROWS_SAYING(in_pod({{"HOSTNAME", "t-0"}}).cluster_spec(), FailedPreconditionError,
                      "DISTRIBUTE_REPLICAS");
  CHECK_THROWS_SAYING(
      in_pod({{"HOSTNAME", "t-0"}, {"DISTRIBUTE_REPLICAS", "2000000000"}}).cluster_spec(),
      InvalidArgumentError, "from 1 to 100000");
}
