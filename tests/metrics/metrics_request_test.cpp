#include <distribute/metrics/detail/metrics_request.hpp>
#include <tests/support/catch.hpp>

using namespace distribute::cluster_internal;

namespace {

std::string answer(const std::string& head, const std::string& token = "secret") {
  return answer_metrics_request(head, token, [] { return std::string("m 1\n"); });
}

const std::string kAuthorized = "Authorization: Bearer secret\r\n";

}  // namespace

TEST_CASE("who knows the token gets the metrics", "[cluster][metrics_request]") {
  const std::string whole =
      "HTTP/1.1 200 OK\r\n"
      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: 4\r\n"
      "Connection: close\r\n\r\n";
  CHECK(answer("GET /metrics HTTP/1.1\r\nHost: a\r\n" + kAuthorized + "\r\n") == whole + "m 1\n");
  CHECK(answer("GET /metrics?x=1 HTTP/1.0\nauthorization:bearer   secret \n\n") == whole + "m 1\n");
  CHECK(answer("HEAD /metrics HTTP/1.1\r\n" + kAuthorized + "\r\n") == whole);
  CHECK(answer("GET /metrics HTTP/1.1\r\n\r\n", "") == whole + "m 1\n");
}

TEST_CASE("who does not know it gets 401 and no word of them", "[cluster][metrics_request]") {
  for (const char* header : {"", "Authorization: Bearer\r\n", "Authorization: Bearer secre\r\n",
                             "Authorization: Bearer secrets\r\n", "Authorization: Basic secret\r\n",
                             "X-Authorization: Bearer secret\r\n", "Authorization: secret\r\n"})
    for (const char* path : {"/metrics", "/other"}) {
      const std::string reply =
          answer(std::string("GET ") + path + " HTTP/1.1\r\n" + header + "\r\n");
      INFO(header);
      CHECK_THAT(reply, StartsWith("HTTP/1.1 401 ") && Contains("WWW-Authenticate: Bearer"));
      CHECK(reply.find("m 1") == reply.npos);
    }
}

TEST_CASE("other requests are refused by their kind", "[cluster][metrics_request]") {
  const auto with = [](const std::string& line) { return answer(line + kAuthorized + "\r\n"); };
  CHECK_THAT(with("GET / HTTP/1.1\r\n"), StartsWith("HTTP/1.1 404 "));
  CHECK_THAT(with("GET /metricsx HTTP/1.1\r\n"), StartsWith("HTTP/1.1 404 "));
  CHECK_THAT(with("POST /metrics HTTP/1.1\r\n"),
             StartsWith("HTTP/1.1 405 ") && Contains("Allow: GET, HEAD\r\n"));
  for (const char* line : {"\r\n", "GET\r\n", "GET /metrics\r\n", "GET metrics HTTP/1.1\r\n",
                           "GET /metrics SPDY/1\r\n", "DSTB\x01\r\n"})
    CHECK_THAT(with(line), StartsWith("HTTP/1.1 400 "));
}

TEST_CASE("the end of the head is found in any pieces", "[cluster][metrics_request]") {
  CHECK(end_of_head("GET / HTTP/1.1\r\nA: b\r\n") == std::string::npos);
  CHECK(end_of_head("GET / HTTP/1.1\r\n\r\nrest") == 18);
  CHECK(end_of_head("GET / HTTP/1.1\n\nrest") == 16);
  CHECK(end_of_head("") == std::string::npos);
}

TEST_CASE("any bytes get a whole answer", "[cluster][metrics_request]") {
  std::mt19937 random(7);
  const std::string pieces[] = {
      "GET",    " ",      "/metrics", "HTTP/1.1",           "\r\n", "Authorization:",
      "Bearer", "secret", ":",        std::string(1, '\0'), "\xFF", "\n"};
  for (int i = 0; i < 2000; ++i) {
    std::string head;
    for (int n = int(random() % 12); n > 0; --n) head += pieces[random() % std::size(pieces)];
    const std::string reply = answer(head);
    CHECK(reply.starts_with("HTTP/1.1 "));
    CHECK(end_of_head(reply) != std::string::npos);
  }
}
