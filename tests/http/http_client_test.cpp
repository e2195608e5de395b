#include <distribute/http/http_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/http_server.hpp>

using namespace distribute;

namespace {

bool contains(absl::string_view text, const std::string& part) {
  return std::string(text).find(part) != std::string::npos;
}

/// Answers with what came: "<method> <target> <body>".
HttpServerReply echo(const HttpServerRequest& request) {
  return {.body = request.method + " " + request.target + " " + request.body};
}

}  // namespace

TEST_CASE("methods, headers and bodies arrive as they were given", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server(echo);
  io::HttpClient client;
  const std::string big(3 << 20, 'x');
  for (const std::string method : {"GET", "PUT", "POST", "DELETE"}) {
    INFO(method);
    const std::string body = method == "PUT" ? big : method == "POST" ? "form=1" : "";
    auto response = client.send({.method = method,
                                 .url = server.url("/a%20b?x=1"),
                                 .headers = {{"X-One", "1"}, {"X-Empty", ""}},
                                 .body = body});
    REQUIRE(response.ok());
    CHECK(response->status == 200);
    CHECK(response->body == method + " /a%20b?x=1 " + body);
    const HttpServerRequest seen = server.requests().back();
    CHECK(seen.header("x-one") == "1");
    CHECK(seen.header("expect").empty());
    if (body.empty()) continue;
    CHECK(seen.header("content-length") == std::to_string(body.size()));
  }
  CHECK(server.connections() == 1);  // kept
}

TEST_CASE("an empty PUT says that its body is empty", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server(echo);
  REQUIRE(io::HttpClient().send({.method = "PUT", .url = server.url("/")}).ok());
  CHECK(server.requests().back().header("content-length") == "0");
}

TEST_CASE("a body can come from a function, with and without a known size", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server(echo);
  for (const int64_t size : {int64_t(100'000), int64_t(-1)}) {
    size_t left = 100'000;
    auto reader = [&](std::span<char> out) {
      const size_t count = std::min<size_t>({left, out.size(), 1000});
      std::fill_n(out.data(), count, 'y');
      left -= count;
      return count;
    };
    auto response = io::HttpClient().send(
        {.method = "PUT", .url = server.url("/k"), .body_reader = reader, .body_bytes = size});
    REQUIRE(response.ok());
    CHECK(response->body == "PUT /k " + std::string(100'000, 'y'));
  }
}

TEST_CASE("HEAD gives the headers and no body", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server([](const HttpServerRequest&) {
    return HttpServerReply{.headers = {{"ETag", "\"abc\""}}, .content_length = 12345};
  });
  auto response = io::HttpClient().send({.method = "HEAD", .url = server.url("/k")});
  REQUIRE(response.ok());
  CHECK(response->header("content-length") == "12345");
  CHECK(response->header("etag") == "\"abc\"");
  CHECK(response->body.empty());
}

TEST_CASE("good bodies go to the sink, error texts do not", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server([](const HttpServerRequest& request) {
    if (request.target == "/bad") return HttpServerReply{.status = 404, .body = "no such thing"};
    return HttpServerReply{.body = "0123456789"};
  });
  io::HttpClient client;
  std::string sink(16, '-');
  auto good = client.send({.url = server.url("/good"), .sink = sink});
  REQUIRE(good.ok());
  CHECK(good->sink_bytes == 10);
  CHECK(sink == "0123456789------");
  CHECK(good->body.empty());

  auto bad = client.send({.url = server.url("/bad"), .sink = sink});
  REQUIRE(bad.ok());
  CHECK(bad->body == "no such thing");
  CHECK(sink == "0123456789------");

  auto much = client.send({.url = server.url("/good"), .sink = std::span(sink).first(9)});
  CHECK(much.status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("redirects are followed only on request", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server([&](const HttpServerRequest& request) {
    if (request.target == "/from")
      return HttpServerReply{.status = 307, .headers = {{"Location", "/to"}, {"X-Old", "1"}}};
    return HttpServerReply{.body = "arrived"};
  });
  io::HttpClient client;
  CHECK(client.send({.url = server.url("/from")})->status == 307);
  auto followed = client.send({.url = server.url("/from"), .follow_redirects = true});
  REQUIRE(followed.ok());
  CHECK(followed->body == "arrived");
  CHECK(followed->header("x-old").empty());
}

TEST_CASE("what goes wrong below HTTP is an error with method, URL and cure", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  io::HttpClient client;
  SECTION("the port is closed") {
    HttpServer server(echo);
    server.stop();
    const auto status = client.send({.url = server.url("/k?access_token=abc")}).status();
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK(contains(status.message(), "GET " + server.url("/k?access_token=...")));
    CHECK(contains(status.message(), "check the endpoint's address and port"));
  }
  SECTION("the connection is reset in the middle of the body") {
    HttpServer server([](const HttpServerRequest&) {
      return HttpServerReply{.body = std::string(100'000, 'x'), .reset_after = 50'000};
    });
    const auto status = client.send({.url = server.url("/k")}).status();
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK(contains(status.message(), "the connection was cut"));
  }
  SECTION("the body stops coming") {
    HttpServer server([](const HttpServerRequest&) {
      return HttpServerReply{.body = std::string(100'000, 'x'), .stall_after = 10};
    });
    CHECK(client.send({.url = server.url("/k"), .stall_timeout = 1}).status().code() ==
          absl::StatusCode::kDeadlineExceeded);
    CHECK(client.send({.url = server.url("/k"), .total_timeout = 0.05}).status().code() ==
          absl::StatusCode::kDeadlineExceeded);
  }
  SECTION("no URL, or one of another protocol") {
    CHECK(client.send({.url = "http://"}).status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(client.send({.url = "file:///etc/hosts"}).status().code() ==
          absl::StatusCode::kInvalidArgument);
  }
  SECTION("the server does not speak TLS") {
    HttpServer server(echo);
    const auto status = client.send({.url = "https://" + server.address() + "/k"}).status();
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK(contains(status.message(), "does the server speak https on this port?"));
  }
  SECTION("a file of certificate authorities is missing") {
    HttpServer server(echo);
    const auto status =
        client.send({.url = "https://" + server.address(), .ca_file = "/nowhere.pem"}).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(contains(status.message(), "certificate authority in DISTRIBUTE_CA_FILE"));
  }
  SECTION("the request's file of certificate authorities goes before the general one") {
    HttpServer server(echo);
    const auto error = [&](const std::string& ca_file) {
      const io::HttpRequest request{.url = "https://" + server.address(), .ca_file = ca_file};
      return std::string(client.send(request).status().message());
    };
    ::setenv("DISTRIBUTE_CA_FILE", "/general.pem", 1);
    const std::string general = error(""), own = error("/own.pem");
    ::unsetenv("DISTRIBUTE_CA_FILE");
    CHECK(contains(general, "/general.pem"));
    CHECK(contains(own, "/own.pem"));
  }
}

TEST_CASE("threads share a client, and its connections are used again", "[io][http_client]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer server(echo);
  io::HttpClient client;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string target = "/" + std::to_string(t) + "/" + std::to_string(i);
        auto response = client.send({.url = server.url(target)});
        good += response.ok() && response->body == "GET " + target + " ";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 200);
  CHECK(server.connections() <= 4);
}
