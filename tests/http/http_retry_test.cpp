#include <distribute/http/http_client.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

/// Remembers its waits instead of waiting; `random` is always the same.
struct FakeWaits {
  std::vector<double> waits;
  io::HttpRetryPolicy policy(double random, int max_attempts = 6) {
    return {.max_attempts = max_attempts,
            .sleep = [this](double seconds) { waits.push_back(seconds); },
            .random = [random] { return random; }};
  }
};

io::HttpResponse with_status(int status, io::HttpHeaders headers = {}) {
  return {.status = status, .headers = std::move(headers)};
}

}  // namespace

TEST_CASE("waits double up to their limit, times the jitter", "[io][http_retry]") {
  FakeWaits fake;
  int calls = 0;
  auto result = io::send_with_retry(fake.policy(0.5, 10), [&] {
    ++calls;
    return with_status(503);
  });
  REQUIRE(result.ok());
  CHECK(result->status == 503);
  CHECK(result->attempts == 10);
  CHECK(calls == 10);
  const std::vector<double> expected{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10};
  REQUIRE(fake.waits.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) CHECK(fake.waits[i] == Approx(expected[i]));
}

TEST_CASE("Retry-After is honoured within the limit", "[io][http_retry]") {
  FakeWaits fake;
  const auto policy = fake.policy(0);
  CHECK(io::retry_delay(policy, 1, with_status(429, {{"retry-after", "3"}})) == 3);
  CHECK(io::retry_delay(policy, 1, with_status(503, {{"Retry-After", "3600"}})) == 20);
  CHECK(io::retry_delay(policy, 1, with_status(503, {{"Retry-After", "Fri, 31 Dec"}})) == 0);
  CHECK(io::retry_delay(policy, 1, absl::UnavailableError("cut")) == 0);
}

TEST_CASE("only failures that pass are tried again", "[io][http_retry]") {
  const io::HttpRetryPolicy policy;
  for (const int status : {408, 429, 500, 502, 503, 504})
    CHECK(io::is_retryable(policy, with_status(status)));
  for (const int status : {200, 206, 301, 308, 400, 401, 403, 404, 409, 412, 416, 501})
    CHECK_FALSE(io::is_retryable(policy, with_status(status)));
  CHECK(io::is_retryable(policy, absl::UnavailableError("cut")));
  CHECK(io::is_retryable(policy, absl::DeadlineExceededError("slow")));
  CHECK_FALSE(io::is_retryable(policy, absl::FailedPreconditionError("certificate")));
  CHECK_FALSE(io::is_retryable(policy, absl::InvalidArgumentError("url")));
}

TEST_CASE("a try that succeeds ends the tries", "[io][http_retry]") {
  FakeWaits fake;
  int calls = 0;
  auto result = io::send_with_retry(fake.policy(1), [&]() -> absl::StatusOr<io::HttpResponse> {
    if (++calls == 1) return absl::UnavailableError("cut");
    return with_status(calls == 2 ? 500 : 200);
  });
  REQUIRE(result.ok());
  CHECK(result->status == 200);
  CHECK(result->attempts == 3);
  CHECK(fake.waits.size() == 2);
}

TEST_CASE("the last error says how often was tried", "[io][http_retry]") {
  FakeWaits fake;
  auto result = io::send_with_retry(fake.policy(1, 3), []() -> absl::StatusOr<io::HttpResponse> {
    return absl::UnavailableError("cut");
  });
  CHECK(result.status() == absl::UnavailableError("cut (tried 3 times)"));
}

TEST_CASE("the caller may ask for another try of a good answer", "[io][http_retry]") {
  FakeWaits fake;
  int calls = 0;
  auto result = io::send_with_retry(
      fake.policy(1),
      [&] { return io::HttpResponse{.status = 200, .body = ++calls < 3 ? "<Error>" : ""}; },
      [](const io::HttpResponse& response) { return response.body == "<Error>"; });
  REQUIRE(result.ok());
  CHECK(calls == 3);
}

TEST_CASE("the default jitter stays inside its bounds and varies", "[io][http_retry]") {
  const io::HttpRetryPolicy policy{.base_delay = 1};
  double least = 10, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const double delay = io::retry_delay(policy, 2, with_status(500));
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  CHECK(least >= 0);
  CHECK(least < 0.2);
  CHECK(most > 1.8);
  CHECK(most <= 2);
}
