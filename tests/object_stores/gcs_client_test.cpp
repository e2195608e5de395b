#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/gcs_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/fake_gcs.hpp>

using namespace distribute;

namespace {

io::GcsOptions options_for(FakeGcs& fake, const FakeEnvironment& environment = {}) {
  io::GcsOptions options;
  options.endpoint = fake.server().url();
  options.retry.sleep = [](double) {};
  options.auth.environment = environment.reader();
  return options;
}

absl::Status list(io::GcsClient& client) {
  return client.call({.url = client.url("/storage/v1", "/b/bucket/o")}, "gs://bucket").status();
}

}  // namespace

TEST_CASE("every request carries the token and the additional header", "[io][gcs]") {
  FakeGcs fake;
  fake.token = "secret";
  const FakeEnvironment environment({{"GOOGLE_AUTH_TOKEN_FOR_TESTING", "secret"}});
  io::GcsOptions options = options_for(fake, environment);
  options.additional_header = {"X-Team", "blue"};
  io::GcsClient client(options);
  CHECK(list(client).ok());
  CHECK(fake.server().requests().back().header("x-team") == "blue");
}

TEST_CASE("a token that is refused is fetched anew, once", "[io][gcs]") {
  FakeGcs fake;
  fake.token = "second";
  HttpServer metadata([&, count = 0](const HttpServerRequest&) mutable -> HttpServerReply {
    return {.body = ++count == 1 ? R"({"access_token":"first","expires_in":3600})"
                                 : R"({"access_token":"second","expires_in":3600})"};
  });
  const FakeEnvironment environment(
      {{"GCE_METADATA_HOST", metadata.address()}, {"CLOUDSDK_CONFIG", "/nowhere"}});
  io::GcsClient client(options_for(fake, environment));
  CHECK(list(client).ok());
  CHECK(metadata.requests().size() == 2);
  CHECK(fake.server().requests().size() == 2);
  fake.token = "third";
  const absl::Status status = list(client);
  CHECK(status.code() == absl::StatusCode::kUnauthenticated);
  CHECK_THAT(std::string(status.message()),
             Contains("Invalid Credentials") && Contains(metadata.address()) && Contains("clock"));
  CHECK(std::string(status.message()).find("second") == std::string::npos);
  CHECK(metadata.requests().size() == 3);
}

TEST_CASE("without credentials the refusal says where they were sought", "[io][gcs]") {
  FakeGcs fake;
  fake.token = "needed";
  const FakeEnvironment environment({{"NO_GCE_CHECK", "true"}, {"CLOUDSDK_CONFIG", "/nowhere"}});
  io::GcsClient client(options_for(fake, environment));
  const absl::Status status = list(client);
  CHECK(status.code() == absl::StatusCode::kUnauthenticated);
  CHECK_THAT(std::string(status.message()),
             Contains("GOOGLE_APPLICATION_CREDENTIALS") && Contains("NO_GCE_CHECK"));
  fake.token.clear();
  CHECK(list(client).ok());  // public
}

TEST_CASE("settings come from the environment", "[io][gcs]") {
  const FakeEnvironment none;
  CHECK(io::gcs_options_from_environment(none.reader())->endpoint ==
        "https://storage.googleapis.com");
  CHECK(io::gcs_options_from_environment(none.reader())->authenticate);
  const FakeEnvironment environment({{"STORAGE_EMULATOR_HOST", "localhost:9023"},
                                     {"GCS_READ_CACHE_BLOCK_SIZE_MB", "2"},
                                     {"GCS_REQUEST_IDLE_TIMEOUT_SECS", "7.5"},
                                     {"GCS_ADDITIONAL_REQUEST_HEADER", "X-Team: blue"}});
  const auto options = io::gcs_options_from_environment(environment.reader());
  REQUIRE(options.ok());
  CHECK(options->endpoint == "http://localhost:9023");
  CHECK_FALSE(options->authenticate);
  CHECK(options->read_block_bytes == 2 << 20);
  CHECK(options->idle_timeout == 7.5);
  CHECK(options->additional_header == std::pair<std::string, std::string>{"X-Team", "blue"});
  const FakeEnvironment wrong({{"GCS_WRITE_REQUEST_TIMEOUT_SECS", "soon"}});
  const absl::Status status = io::gcs_options_from_environment(wrong.reader()).status();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Contains("GCS_WRITE_REQUEST_TIMEOUT_SECS") && Contains("soon"));
}

TEST_CASE("a header that makes no sense is shown in part, and without control characters",
          "[io][gcs]") {
  for (const std::string text : {std::string(20'000, 'x'), std::string("\x1b[31m\x07")}) {
    const FakeEnvironment environment({{"GCS_ADDITIONAL_REQUEST_HEADER", text}});
    const absl::Status status = io::gcs_options_from_environment(environment.reader()).status();
    CHECK_THAT(std::string(status.message()), Contains("GCS_ADDITIONAL_REQUEST_HEADER"));
    CHECK_THAT(std::string(status.message()), !Contains(text) && !Contains("\x1b"));
    CHECK(status.message().size() < 400);
  }
}

TEST_CASE("paths of buckets and objects are encoded whole", "[io][gcs]") {
  CHECK(io::parse_gcs_path("gs://b/a/c d")->resource() == "/b/b/o/a%2Fc%20d");
  CHECK(io::parse_gcs_path("gs://b/")->resource() == "/b/b/o");
  CHECK(io::parse_gcs_path("gs://b/dir/")->object == "dir");
  CHECK_FALSE(io::parse_gcs_path("gs:///a").ok());
}

TEST_CASE("a closed upload takes no more", "[io][gcs]") {
  FakeGcs fake;
  io::GcsOptions options = options_for(fake);
  options.authenticate = false;
  io::GcsClient client(options);
  const auto upload = io::gcs_writable_file(client, *io::parse_gcs_path("gs://bucket/a"));
  REQUIRE(upload->append("bytes").ok());
  REQUIRE(upload->close().ok());
  CHECK(upload->close().ok());
  CHECK(upload->append("more").code() == absl::StatusCode::kFailedPrecondition);
  CHECK(fake.objects().at("a") == "bytes");
}
