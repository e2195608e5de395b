#include <distribute/base/error.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/platforms/preemption_notice.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/http_server.hpp>

using namespace distribute;
using train::PreemptionNotice;

namespace {

train::PreemptionNoticeOptions options(const std::string& platform, const HttpServer& server) {
  return {.platform = platform,
          .endpoint = server.url(),
          .poll_seconds = 0.01,
          .request_timeout = 5,
          .log = [](const std::string&) {}};
}

/// Asks at least twice without a notice, then sees it.
void check_notice(const std::string& platform, std::atomic<bool>& takes, const HttpServer& server,
                  int asked_before) {
  const PreemptionNotice notice(options(platform, server));
  testing::wait_until([&] { return int(server.requests().size()) >= asked_before; },
                      "requests before the notice");
  CHECK_FALSE(notice.has_come());
  const LeaveNotice of_process;
  CHECK_FALSE(of_process.has_come());
  takes = true;
  testing::wait_until([&] { return notice.has_come(); }, "the notice");
  CHECK(notice.has_come());
  CHECK(of_process.has_come());
}

}  // namespace

TEST_CASE("Compute Engine says that an instance is preempted", "[train][preemption_notice]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  const bool maintenance = GENERATE(false, true);
  std::atomic<bool> takes{false};
  const HttpServer server([&](const HttpServerRequest& request) -> HttpServerReply {
    if (request.header("metadata-flavor") != "Google") return {.status = 403};
    if (request.path() == "/computeMetadata/v1/instance/preempted")
      return {.body = takes && !maintenance ? "TRUE" : "FALSE"};
    if (request.path() == "/computeMetadata/v1/instance/maintenance-event")
      return {.body = takes && maintenance ? "TERMINATE_ON_HOST_MAINTENANCE" : "NONE"};
    return {.status = 404};
  });
  check_notice("gce", takes, server, 4);
}

TEST_CASE("EC2 announces a spot interruption, and its tokens end", "[train][preemption_notice]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  std::atomic<bool> takes{false};
  std::atomic<int> tokens{0}, asked{0};
  const HttpServer server([&](const HttpServerRequest& request) -> HttpServerReply {
    if (request.method == "PUT" && request.path() == "/latest/api/token" &&
        request.header("x-aws-ec2-metadata-token-ttl-seconds") == "21600")
      return {.body = "token" + std::to_string(++tokens)};
    if (request.path() != "/latest/meta-data/spot/instance-action") return {.status = 400};
    if (request.header("x-aws-ec2-metadata-token") != "token" + std::to_string(tokens))
      return {.status = 401};
    if (++asked == 2) ++tokens;  // the one that was given does not count any more
    if (!takes) return {.status = 404};
    return {.body = R"({"action": "terminate", "time": "2026-01-02T03:04:05Z"})"};
  });
  check_notice("ec2", takes, server, 7);
  CHECK(tokens >= 3);
}

TEST_CASE("Azure schedules a preemption", "[train][preemption_notice]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  std::atomic<bool> takes{false};
  const HttpServer server([&](const HttpServerRequest& request) -> HttpServerReply {
    if (request.header("metadata") != "true" ||
        request.target != "/metadata/scheduledevents?api-version=2020-07-01")
      return {.status = 400};
    const std::string type = takes ? "Preempt" : "Freeze";
    return {.body = R"({"DocumentIncarnation": 1, "Events": [{"EventType": ")" + type + R"("}]})"};
  });
  check_notice("azure", takes, server, 2);
}

TEST_CASE("a metadata server that never answers costs nothing and is given up",
          "[train][preemption_notice]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  const HttpServer server([](const HttpServerRequest&) -> HttpServerReply {
    return {.body = "FALSE", .stall_after = 0};
  });
  std::mutex mutex;
  std::vector<std::string> lines;
  auto given = options("gce", server);
  given.request_timeout = 0.05;
  given.max_failures = 3;
  given.log = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  const PreemptionNotice notice(given);
  testing::wait_until([&] { return !notice.is_asking(); }, "giving up");
  CHECK_FALSE(notice.has_come());
  testing::wait_until(
      [&] {
        const std::lock_guard lock(mutex);
        return !lines.empty();
      },
      "the line");
  CHECK(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("has failed 3 times") && Contains(server.url()) &&
                           Contains("SIGTERM still works"));
}

TEST_CASE("errors that pass are forgotten", "[train][preemption_notice]") {
  if (!io::has_http()) SKIP("this build has no libcurl");
  std::atomic<int> asked{0};
  const HttpServer server([&](const HttpServerRequest& request) -> HttpServerReply {
    if (!request.path().ends_with("/preempted")) return {.body = "NONE"};
    const int number = ++asked;
    if (number > 30) return {.body = "TRUE"};
    return number % 3 == 0 ? HttpServerReply{.body = "FALSE"} : HttpServerReply{.status = 503};
  });
  auto given = options("gce", server);
  given.max_failures = 4;
  const PreemptionNotice notice(given);
  testing::wait_until([&] { return notice.has_come() || !notice.is_asking(); }, "the notice");
  CHECK(notice.has_come());
}

TEST_CASE("platforms and times are checked", "[train][preemption_notice]") {
  CHECK_THROWS_SAYING(PreemptionNotice({.platform = "cloud9"}), InvalidArgumentError,
                      "must be gce, ec2 or azure, not 'cloud9'");
  CHECK_THROWS_SAYING(PreemptionNotice({.platform = "gce", .poll_seconds = 0}),
                      InvalidArgumentError, "must be positive");
}
