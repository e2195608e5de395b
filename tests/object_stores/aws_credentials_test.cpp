#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/detail/xml.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/http_server.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

bool contains(absl::string_view text, const std::string& part) {
  return std::string(text).find(part) != std::string::npos;
}

/// Nothing of the machine's own is looked at.
FakeEnvironment no_instance() { return {{"AWS_EC2_METADATA_DISABLED", "true"}}; }

io::AwsCredentialsOptions options_of(const FakeEnvironment& environment) {
  return {.environment = environment.reader(), .metadata_timeout = 5};
}

absl::StatusOr<io::AwsCredentials> find(const FakeEnvironment& environment) {
  return io::find_aws_credentials(options_of(environment));
}

std::string credentials_json(const std::string& key, const std::string& expiration) {
  return R"({"Code":"Success","AccessKeyId":")" + key +
         R"(","SecretAccessKey":"secret","Token":"token","Expiration":")" + expiration + "\"}";
}

std::string sts_answer(const std::string& action, const std::string& key) {
  return "<" + action + "Response xmlns=\"https://sts/\"><" + action +
         "Result><Credentials><AccessKeyId>" + key +
         "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
         "<Expiration>2030-01-02T03:04:05Z</Expiration></Credentials></" +
         action + "Result></" + action + "Response>";
}

/// Speaks IMDSv2: a token first.
HttpServerReply instance(const HttpServerRequest& request) {
  if (request.target == "/latest/api/token")
    return {.status = request.method == "PUT" ? 200 : 405, .body = "imds-token"};
  if (request.header("x-aws-ec2-metadata-token") != "imds-token") return {.status = 401};
  if (request.target == "/latest/meta-data/placement/region") return {.body = "ap-south-1"};
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  if (request.target == roles) return {.body = "trainer\n"};
  if (request.target == roles + "trainer")
    return {.body = credentials_json("INSTANCE", "2030-01-01T00:00:00Z")};
  return {.status = 404};
}

}  // namespace

TEST_CASE("the environment's keys come first", "[io][aws_credentials]") {
  FakeEnvironment environment = no_instance();
  environment["AWS_ACCESS_KEY_ID"] = "A";
  environment["AWS_SECRET_ACCESS_KEY"] = "S";
  environment["AWS_SESSION_TOKEN"] = "T";
  environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/nowhere";
  const auto found = find(environment);
  REQUIRE(found.ok());
  CHECK(found->access_key_id == "A");
  CHECK(found->secret_access_key == "S");
  CHECK(found->session_token == "T");
  CHECK(found->expiration == 0);
  environment.erase("AWS_SECRET_ACCESS_KEY");
  CHECK(find(environment).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("with no source requests are anonymous, and it is said why", "[io][aws_credentials]") {
  const auto found = find(no_instance());
  REQUIRE(found.ok());
  CHECK(found->anonymous());
  CHECK(contains(found->source, "no AWS_ACCESS_KEY_ID"));
}

TEST_CASE("profiles give keys, run processes and refuse sign-in by browser",
          "[io][aws_credentials]") {
  const TemporaryDirectory home;
  std::ofstream(home / "config") << "[default]\naws_access_key_id = D\naws_secret_access_key = S\n"
                                    "[profile process]\ncredential_process = cat "
                                 << home / "keys.json"
                                 << "\n[profile broken]\ncredential_process = false\n"
                                    "[profile sso]\nsso_session = work\n";
  std::ofstream(home / "keys.json") << R"({"Version":1,"AccessKeyId":"P","SecretAccessKey":"S",)"
                                       R"("SessionToken":"T"})";
  FakeEnvironment environment = no_instance();
  environment["AWS_CONFIG_FILE"] = home / "config";
  CHECK(find(environment)->access_key_id == "D");
  environment["AWS_PROFILE"] = "process";
  const auto process = find(environment);
  REQUIRE(process.ok());
  CHECK(process->access_key_id == "P");
  CHECK(process->session_token == "T");
  environment["AWS_PROFILE"] = "broken";
  CHECK(find(environment).status().code() == absl::StatusCode::kFailedPrecondition);
  environment["AWS_PROFILE"] = "sso";
  CHECK(contains(find(environment).status().message(), "aws configure export-credentials"));
}

TEST_CASE("a web identity is exchanged for credentials", "[io][aws_credentials]") {
  if (!io::has_http() || !io::has_xml()) SKIP("no libcurl or pugixml");
  HttpServer sts([](const HttpServerRequest&) {
    return HttpServerReply{.body = sts_answer("AssumeRoleWithWebIdentity", "WEB")};
  });
  const TemporaryDirectory home;
  std::ofstream(home / "token") << "eyJ+/=\n";
  FakeEnvironment environment = no_instance();
  environment["AWS_ENDPOINT_URL_STS"] = sts.url();
  environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = home / "token";
  environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/train";
  const auto found = find(environment);
  REQUIRE(found.ok());
  CHECK(found->access_key_id == "WEB");
  CHECK(found->expiration == 1893553445);
  const auto request = sts.requests().at(0);
  CHECK(request.method == "POST");
  CHECK(contains(request.body, "WebIdentityToken=eyJ%2B%2F%3D"));
  CHECK(contains(request.body, "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Ftrain"));
  CHECK(request.header("authorization").empty());

  environment.erase("AWS_ROLE_ARN");
  CHECK(contains(find(environment).status().message(), "set AWS_ROLE_ARN"));
  environment["AWS_ROLE_ARN"] = "r";
  environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = home / "none";
  const auto missing = find(environment).status();
  CHECK(missing.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(missing.message(), "AWS_WEB_IDENTITY_TOKEN_FILE"));
}

TEST_CASE("a profile's role is taken with its source's keys", "[io][aws_credentials]") {
  if (!io::has_http() || !io::has_digests() || !io::has_xml())
    SKIP("no libcurl, OpenSSL or pugixml");
  HttpServer sts([](const HttpServerRequest& request) {
    if (!contains(request.header("authorization"), "Credential=BASE/"))
      return HttpServerReply{.status = 403};
    return HttpServerReply{.body = sts_answer("AssumeRole", "ROLE")};
  });
  const TemporaryDirectory home;
  std::ofstream(home / "config") << "[profile base]\naws_access_key_id = BASE\n"
                                    "aws_secret_access_key = S\n"
                                    "[profile train]\nrole_arn = arn:r\nsource_profile = base\n"
                                    "[profile circle]\nrole_arn = arn:r\nsource_profile = circle\n";
  FakeEnvironment environment = no_instance();
  environment["AWS_CONFIG_FILE"] = home / "config";
  environment["AWS_ENDPOINT_URL_STS"] = sts.url();
  environment["AWS_PROFILE"] = "train";
  const auto found = find(environment);
  REQUIRE(found.ok());
  CHECK(found->access_key_id == "ROLE");
  CHECK(found->session_token == "t");
  environment["AWS_PROFILE"] = "circle";
  CHECK(find(environment).status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a container's address is asked with its token", "[io][aws_credentials]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer container([](const HttpServerRequest& request) {
    if (request.header("authorization") != "Bearer x")
      return HttpServerReply{.status = 403, .body = "wrong token"};
    return HttpServerReply{.body = credentials_json("CONTAINER", "2030-01-01T00:00:00Z")};
  });
  const TemporaryDirectory home;
  std::ofstream(home / "token") << "Bearer x\n";
  FakeEnvironment environment = no_instance();
  environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = container.url("/creds");
  environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = home / "token";
  const auto found = find(environment);
  REQUIRE(found.ok());
  CHECK(found->access_key_id == "CONTAINER");
  CHECK(found->session_token == "token");
  std::ofstream(home / "token") << "other";
  const auto refused = find(environment).status();
  CHECK(refused.code() == absl::StatusCode::kPermissionDenied);
  CHECK(contains(refused.message(), container.url("/creds") + " answered 403 wrong token"));
  environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = home / "none";
  const auto missing = find(environment).status();
  CHECK(missing.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(missing.message(), "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names it"));
}

TEST_CASE("a container's address that does not answer is named with its variable",
          "[io][aws_credentials]") {
  if (!io::has_http()) SKIP("no libcurl");
  std::string absent;
  {
    HttpServer gone([](const HttpServerRequest&) { return HttpServerReply{}; });
    absent = gone.url("/creds");
  }
  FakeEnvironment environment = no_instance();
  environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = absent;
  const auto status = find(environment).status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(status.message(), absent));
  CHECK(contains(status.message(), "(AWS_CONTAINER_CREDENTIALS_FULL_URI)"));
}

TEST_CASE("an instance gives its role's credentials and its region", "[io][aws_credentials]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer metadata(instance);
  const FakeEnvironment environment{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.url("/")}};
  const auto found = find(environment);
  REQUIRE(found.ok());
  CHECK(found->access_key_id == "INSTANCE");
  CHECK(found->expiration == 1893456000);
  CHECK(*io::find_aws_region(options_of(environment)) == "ap-south-1");
}

TEST_CASE("a metadata server that never answers is named in the error", "[io][aws_credentials]") {
  if (!io::has_http()) SKIP("no libcurl");
  HttpServer silent(
      [](const HttpServerRequest&) { return HttpServerReply{.body = "x", .stall_after = 0}; });
  const FakeEnvironment environment{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", silent.url()}};
  auto options = options_of(environment);
  options.metadata_timeout = 0.05;
  const auto status = io::find_aws_credentials(options).status();
  CHECK(status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(contains(status.message(), silent.url("/latest/api/token")));
  CHECK(contains(status.message(), "AWS_EC2_METADATA_DISABLED=true"));
}

TEST_CASE("credentials are kept, and asked for again five minutes before their end",
          "[io][aws_credentials]") {
  if (!io::has_http()) SKIP("no libcurl");
  std::atomic<int> asked{0};
  HttpServer container([&](const HttpServerRequest&) {
    const std::string number = std::to_string(++asked);
    if (asked == 3) return HttpServerReply{.status = 404};
    return HttpServerReply{.body = credentials_json("KEY" + number, "1970-01-01T01:00:00Z")};
  });
  FakeEnvironment environment = no_instance();
  environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = container.url();
  auto options = options_of(environment);
  int64_t now = 0;
  options.clock = [&] { return now; };
  io::AwsCredentialsProvider provider(options);
  CHECK(provider.get()->access_key_id == "KEY1");
  now = 3299;
  CHECK(provider.get()->access_key_id == "KEY1");
  now = 3301;
  CHECK(provider.get()->access_key_id == "KEY2");
  CHECK(provider.get()->access_key_id == "KEY2");  // the third answer is an error
  CHECK(asked == 3);
  CHECK(provider.get()->access_key_id == "KEY4");

  now = 0;
  const io::AwsCredentials refused = *provider.get();
  CHECK(provider.renew(refused)->access_key_id == "KEY5");
  CHECK(provider.renew(refused)->access_key_id == "KEY5");  // another thread has done it
  CHECK(asked == 5);
}

TEST_CASE("the region comes from environment, profile or nowhere", "[io][aws_credentials]") {
  const TemporaryDirectory home;
  std::ofstream(home / "config") << "[default]\nregion = eu-central-1\n";
  FakeEnvironment environment = no_instance();
  CHECK(*io::find_aws_region(options_of(environment)) == "us-east-1");
  environment["AWS_CONFIG_FILE"] = home / "config";
  CHECK(*io::find_aws_region(options_of(environment)) == "eu-central-1");
  environment["AWS_DEFAULT_REGION"] = "two";
  CHECK(*io::find_aws_region(options_of(environment)) == "two");
  environment["AWS_REGION"] = "one";
  CHECK(*io::find_aws_region(options_of(environment)) == "one");
}
