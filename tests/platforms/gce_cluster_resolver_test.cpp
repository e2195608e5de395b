#include <distribute/http/http_client.hpp>
#include <distribute/platforms/gce_cluster_resolver.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/http_server.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

/// Metadata server and Compute Engine in one: a group "trainers" whose machines are listed two on a
/// page.
struct FakeCloud {
  FakeCloud() {
    if (!io::has_http()) SKIP("this build has no libcurl");
  }

  std::map<std::string, std::string> machines = {
      {"t-a", "10.0.0.9"}, {"t-b", "10.0.0.10"}, {"t-c", "10.0.0.2"}};
  std::string own_address = "10.0.0.2";
  std::atomic<int> tokens{0}, refused{0}, failures{0};

  HttpServer server{[this](const HttpServerRequest& request) -> HttpServerReply {
    if (request.path().starts_with("/computeMetadata/v1/")) return metadata(request);
    return compute(request);
  }};

  HttpServerReply metadata(const HttpServerRequest& request) {
    if (request.header("metadata-flavor") != "Google") return {.status = 403};
    const std::string path = request.path().substr(20);
    if (path == "project/project-id") return {.body = "my-project"};
    if (path == "instance/zone") return {.body = "projects/123/zones/europe-west4-a"};
    if (path == "instance/network-interfaces/0/ip") return {.body = own_address};
    if (path == "instance/service-accounts/default/token")
      return {.body = R"({"access_token":"token-)" + std::to_string(++tokens) +
                      R"(","expires_in":3600})"};
    return {.status = 404};
  }

  HttpServerReply compute(const HttpServerRequest& request) {
    const std::string zone = "/compute/v1/projects/my-project/zones/europe-west4-a";
    if (failures > 0 && failures--) return {.status = 503};
    if (request.header("authorization") == "Bearer token-1" && refused > 0 && refused--)
      return {.status = 401, .body = R"({"error":{"code":401,"message":"Invalid Credentials"}})"};
    if (!request.header("authorization").starts_with("Bearer token-"))
      return {.status = 403, .body = R"({"error":{"message":"Required 'compute.viewer'"}})"};
    if (request.path() == zone + "/instanceGroups/trainers/listInstances") return page(request);
    const std::string instances = zone + "/instances/";
    if (request.path().starts_with(instances)) {
      const auto found = machines.find(request.path().substr(instances.size()));
      if (request.method == "GET" && found != machines.end())
        return {.body = R"({"networkInterfaces":[{"networkIP":")" + found->second +
                        R"(","accessConfigs":[{"natIP":"8.8.4.4"}]},{"networkIP":"1.1.1.1"}]})"};
    }
    return {.status = 404, .body = R"({"error":{"message":"The resource was not found"}})"};
  }

  HttpServerReply page(const HttpServerRequest& request) {
    if (request.method != "POST" || request.body != R"({"instanceState":"RUNNING"})")
      return {.status = 400};
    const bool second = request.query().find("pageToken=next") != std::string::npos;
    nlohmann::json answer{{"kind", "compute#instanceGroupsListInstances"}};
    int place = 0;
    for (const auto& [name, address] : machines)
      if ((place++ < 2) != second)
        answer["items"].push_back(
            {{"instance", "https://x/zones/z/instances/" + name}, {"status", "RUNNING"}});
    if (!second && machines.size() > 2) answer["nextPageToken"] = "next";
    return {.body = answer.dump()};
  }

  GCEClusterResolverOptions options() {
    return {.project = "my-project",
            .zone = "europe-west4-a",
            .instance_group = "trainers",
            .port = 2222,
            .service = server.url("/compute/v1"),
            .max_attempts = 2,
            .variables = std::map<std::string, std::string>{{"GCE_METADATA_HOST", server.address()},
                                                            {"CLOUDSDK_CONFIG", "/nowhere"}}};
  }
};

using Addresses = std::vector<std::string>;

Addresses addresses(const ClusterResolver& resolver, const std::string& job) {
  Addresses all;
  for (const auto& address : resolver.cluster_spec().job_tasks(job)) all.push_back(*address);
  return all;
}

}  // namespace

TEST_CASE("an instance group is a job of the addresses of its running machines",
          "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  GCEClusterResolver resolver(cloud.options());
  // As strings, as TensorFlow sorts them.
  const Addresses all{"10.0.0.10:2222", "10.0.0.2:2222", "10.0.0.9:2222"};
  CHECK(addresses(resolver, "worker") == all);
  CHECK(*resolver.task_type() == "worker");
  CHECK(*resolver.task_id() == 0);
  CHECK(resolver.master() == "grpc://10.0.0.10:2222");
  CHECK(resolver.master("worker", 2) == "grpc://10.0.0.9:2222");
  resolver.set_task_id(1);
  CHECK(resolver.master() == "grpc://10.0.0.2:2222");
  resolver.set_rpc_layer("");
  CHECK(resolver.master() == "10.0.0.2:2222");
  CHECK(cloud.tokens == 1);  // of an hour
}

TEST_CASE("the cluster of an instance group is asked for anew", "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  auto options = cloud.options();
  options.task_type = "chief";
  const GCEClusterResolver resolver(options);
  CHECK(addresses(resolver, "chief").size() == 3);
  cloud.machines.erase("t-b");
  CHECK(addresses(resolver, "chief") == Addresses{"10.0.0.2:2222", "10.0.0.9:2222"});
}

TEST_CASE("a machine of an instance group finds project, zone and its index by itself",
          "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  auto options = cloud.options();
  options.project = options.zone = "";
  options.task_id = std::nullopt;
  const GCEClusterResolver resolver(options);
  CHECK(*resolver.task_id() == 1);
  CHECK(resolver.master() == "grpc://10.0.0.2:2222");
  cloud.own_address = "10.0.0.77";
  CHECK_THROWS_SAYING(resolver.task_id(), FailedPreconditionError, "10.0.0.77:2222");
  CHECK_THROWS_SAYING(resolver.task_id(), FailedPreconditionError, "'trainers'");
}

TEST_CASE("the type of an instance group's tasks is what it was made with",
          "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  GCEClusterResolver resolver(cloud.options());
  ClusterResolver& base = resolver;
  CHECK_THROWS_SAYING(base.set_task_type("ps"), FailedPreconditionError,
                      "You cannot reset the task_type of the GCEClusterResolver");
  CHECK(*resolver.task_type() == "worker");
}

TEST_CASE("Compute Engine's passing failures and old tokens are got over",
          "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  cloud.failures = 1;
  cloud.refused = 1;
  const GCEClusterResolver resolver([&] {
    auto options = cloud.options();
    options.max_attempts = 3;
    return options;
  }());
  CHECK(addresses(resolver, "worker").size() == 3);
  CHECK(cloud.tokens == 2);
}

TEST_CASE("what Compute Engine refuses is an error with its words and a cure",
          "[cluster][gce_cluster_resolver]") {
  FakeCloud cloud;
  auto options = cloud.options();
  SECTION("another group") {
    options.instance_group = "others";
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), NotFoundError,
                        "/instanceGroups/others/");
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), NotFoundError, "was not found");
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), NotFoundError,
                        "check project, zone");
  }
  SECTION("no permission") {
    options.credentials = "another-token";
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), PermissionDeniedError,
                        "compute.viewer");
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), PermissionDeniedError,
                        "compute.instanceGroups.list");
  }
  SECTION("a service that stays away") {
    cloud.failures = 100;
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), UnavailableError, "503");
  }
  SECTION("no instance runs") {
    cloud.machines.clear();
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), FailedPreconditionError,
                        "'trainers'");
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), FailedPreconditionError,
                        "no running machine");
  }
  SECTION("no metadata server") {
    options.project = "";
    options.variables = std::map<std::string, std::string>{{"GCE_METADATA_HOST", "127.0.0.1:1"}};
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), UnavailableError,
                        "127.0.0.1:1");
    CHECK_THROWS_SAYING(GCEClusterResolver(options).cluster_spec(), UnavailableError,
                        "give project, zone");
  }
  SECTION("options") {
    options.port = 0;
    check_throws<InvalidArgumentError>([&] { const GCEClusterResolver resolver(options); }, "port");
    options.port = 1;
    options.instance_group = "";
    check_throws<InvalidArgumentError>([&] { const GCEClusterResolver resolver(options); },
                                       "instance_group");
  }
}

TEST_CASE("answers of Compute Engine that are none are told", "[cluster][gce_cluster_resolver]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  std::string body;
  const HttpServer server(
      [&](const HttpServerRequest&) -> HttpServerReply { return {.body = body}; });
  const GCEClusterResolver resolver({.project = "p",
                                     .zone = "z",
                                     .instance_group = "g",
                                     .port = 1,
                                     .credentials = "",
                                     .service = server.url(),
                                     .max_attempts = 1});
  for (const char* text :
       {"", "no JSON", "[]", R"({"items":5})", R"({"items":[5]})", R"({"items":[{"instance":7}]})",
        R"({"items":[{}]})", R"({"items":[{"instance":"a"}],"nextPageToken":3})"}) {
    INFO(text);
    body = text;
    CHECK_THROWS_AS(resolver.cluster_spec(), InvalidArgumentError);
  }
}
