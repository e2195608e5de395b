#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/http_server.hpp>
#include <tests/support/rsa_key.hpp>
#include <tests/support/temporary_directory.hpp>

#include <absl/strings/escaping.h>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

/// Hands out token-1, token-2, ... each good for an hour.
struct TokenServer {
  std::atomic<int> status{200};
  std::atomic<int> count{0};
  HttpServer server{[this](const HttpServerRequest&) -> HttpServerReply {
    if (status != 200)
      return {.status = status, .body = R"({"error":"invalid_grant","error_description":"gone"})"};
    return {.body = R"({"access_token":"token-)" + std::to_string(++count) +
                    R"(","expires_in":3600,"token_type":"Bearer"})"};
  }};
};

struct Fixture {
  TokenServer tokens;
  TemporaryDirectory directory;
  double time = 1'700'000'000;
  FakeEnvironment environment{{"CLOUDSDK_CONFIG", directory.path()},
                              {"GCE_METADATA_HOST", tokens.server.address()}};

  io::GoogleAuthOptions options() {
    io::GoogleAuthOptions options;
    options.token_url = tokens.server.url("/oauth");
    options.metadata_timeout = 0.2;
    options.environment = environment.reader();
    options.retry.sleep = [](double) {};
    options.clock = [this] { return time; };
    return options;
  }
  std::string write(const std::string& name, const nlohmann::json& json) {
    std::ofstream(directory / name) << json.dump();
    return directory / name;
  }
  HttpServerRequest last() { return tokens.server.requests().back(); }
};

std::string message(const absl::Status& status) { return std::string(status.message()); }

nlohmann::json decode(const std::string& text) {
  std::string bytes;
  REQUIRE(absl::WebSafeBase64Unescape(text, &bytes));
  return nlohmann::json::parse(bytes);
}

}  // namespace

TEST_CASE("a token in the environment is taken as it is", "[io][google_auth]") {
  Fixture f;
  f.environment["GOOGLE_AUTH_TOKEN_FOR_TESTING"] = "given";
  io::GoogleAuthProvider provider(f.options());
  CHECK(*provider.get_token() == "given");
  CHECK(f.tokens.count == 0);
}

TEST_CASE("a refresh token is exchanged, and again before the hour is over", "[io][google_auth]") {
  if (!io::has_http()) SKIP("no libcurl");
  Fixture f;
  f.write("application_default_credentials.json", {{"client_id", "id"},
                                                   {"client_secret", "secret & more"},
                                                   {"refresh_token", "refresh"},
                                                   {"type", "authorized_user"}});
  io::GoogleAuthProvider provider(f.options());
  CHECK(*provider.get_token() == "token-1");
  CHECK(f.last().method == "POST");
  CHECK(f.last().target == "/oauth");
  CHECK(f.last().body ==
        "client_id=id&client_secret=secret%20%26%20more&grant_type=refresh_token&"
        "refresh_token=refresh");
  f.time += 3500;
  CHECK(*provider.get_token() == "token-1");
  f.time += 60;
  CHECK(*provider.get_token() == "token-2");
  provider.forget_token();
  CHECK(*provider.get_token() == "token-3");
}

TEST_CASE("a service account signs who it is", "[io][google_auth]") {
  if (!io::has_http()) SKIP("no libcurl");
  if (absl::IsUnimplemented(io::rsa_sha256_sign("", "").status())) SKIP("no OpenSSL");
  Fixture f;
  f.environment["GOOGLE_APPLICATION_CREDENTIALS"] =
      f.write("key.json", {{"type", "service_account"},
                           {"client_email", "me@project"},
                           {"private_key", kTestRsaKey},
                           {"private_key_id", "7"},
                           {"token_uri", f.tokens.server.url("/sa")}});
  io::GoogleAuthProvider provider(f.options());
  CHECK(*provider.get_token() == "token-1");
  CHECK(f.last().target == "/sa");
  const std::string body = f.last().body, before = "assertion=";
  CHECK_THAT(body, Contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"));
  const std::string assertion = body.substr(before.size(), body.find('&') - before.size());
  const size_t first = assertion.find('.'), second = assertion.rfind('.');
  const nlohmann::json header = decode(assertion.substr(0, first));
  CHECK(header == nlohmann::json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "7"}});
  const nlohmann::json claim = decode(assertion.substr(first + 1, second - first - 1));
  CHECK(claim["iss"] == "me@project");
  CHECK(claim["aud"] == f.tokens.server.url("/sa"));
  CHECK(claim["iat"] == 1'700'000'000);
  CHECK(claim["exp"] == 1'700'003'600);
  const auto signature = io::rsa_sha256_sign(kTestRsaKey, assertion.substr(0, second));
  CHECK(absl::WebSafeBase64Escape(*signature) == assertion.substr(second + 1));
}

TEST_CASE("the metadata server is asked where there is no file", "[io][google_auth]") {
  if (!io::has_http()) SKIP("no libcurl");
  Fixture f;
  io::GoogleAuthProvider provider(f.options());
  CHECK(*provider.get_token() == "token-1");
  CHECK(f.last().target == "/computeMetadata/v1/instance/service-accounts/default/token");
  CHECK(f.last().header("metadata-flavor") == "Google");
  CHECK_THAT(provider.origin(), Contains("metadata server") && Contains(f.tokens.server.address()));
  f.environment["NO_GCE_CHECK"] = "true";
  io::GoogleAuthProvider other(f.options());
  CHECK(other.get_token()->empty());
  CHECK_THAT(other.origin(), Contains("NO_GCE_CHECK"));
}

TEST_CASE("a metadata server that is silent, absent or poor leaves no token and a reason",
          "[io][google_auth][fault]") {
  if (!io::has_http()) SKIP("no libcurl");
  Fixture f;
  HttpServer silent(
      [](const HttpServerRequest&) -> HttpServerReply { return {.body = "x", .stall_after = 0}; });
  std::string absent;
  {
    HttpServer gone([](const HttpServerRequest&) -> HttpServerReply { return {}; });
    absent = gone.address();
  }
  HttpServer poor([](const HttpServerRequest&) -> HttpServerReply { return {.status = 404}; });
  for (const std::string& host : {silent.address(), absent, poor.address()}) {
    CAPTURE(host);
    f.environment["GCE_METADATA_HOST"] = host;
    io::GoogleAuthProvider provider(f.options());
    const auto token = provider.get_token();
    CHECK((token.ok() && token->empty()));
    CHECK_THAT(provider.origin(), Contains(host) && Contains("GOOGLE_APPLICATION_CREDENTIALS"));
  }
}

TEST_CASE("credentials that cannot be used are named", "[io][google_auth]") {
  if (!io::has_http()) SKIP("no libcurl");
  Fixture f;
  const auto error = [&](const std::string& file) {
    f.environment["GOOGLE_APPLICATION_CREDENTIALS"] = file;
    io::GoogleAuthProvider provider(f.options());
    return provider.get_token().status();
  };
  const absl::Status absent = error(f.directory / "none.json");
  CHECK(absent.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(message(absent), Contains("none.json") && Contains("gcloud auth") &&
                                  Contains("GOOGLE_APPLICATION_CREDENTIALS names it"));
  std::ofstream(f.directory / "half.json") << R"({"refresh_token": "re)";
  CHECK(error(f.directory / "half.json").code() == absl::StatusCode::kDataLoss);
  CHECK_THAT(message(error(f.directory / "half.json")), Contains("half.json"));
  CHECK_THAT(message(error(f.write("odd.json", {{"type", "external_account"}}))),
             Contains("odd.json") && Contains("gcloud auth"));
  CHECK(error(f.write("key.json", {{"private_key", "no key"}, {"client_email", "me"}})).code() !=
        absl::StatusCode::kOk);
  f.tokens.status = 400;
  const std::string file = f.write("old.json", {{"refresh_token", "secret-token"}});
  CHECK(error(file).code() == absl::StatusCode::kUnauthenticated);
  CHECK_THAT(message(error(file)), Contains("old.json") && Contains("gone") &&
                                       Contains(f.tokens.server.address()) &&
                                       !Contains("secret-token"));
  f.tokens.status = 503;
  CHECK(error(file).code() == absl::StatusCode::kUnavailable);
}
