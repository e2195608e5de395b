#include <distribute/object_stores/detail/s3_client.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

absl::StatusOr<io::S3Options> options_of(FakeEnvironment environment) {
  environment["AWS_EC2_METADATA_DISABLED"] = "true";
  return io::s3_options_from_environment({.environment = environment.reader()});
}

}  // namespace

TEST_CASE("the endpoint comes from TensorFlow's variable, then from Amazon's", "[io][s3_options]") {
  const TemporaryDirectory home;
  std::ofstream(home / "config") << "[default]\nendpoint_url = http://profile:1\n";
  FakeEnvironment environment{{"AWS_CONFIG_FILE", home / "config"}};
  CHECK(options_of(environment)->endpoint == "http://profile:1");
  environment["AWS_ENDPOINT_URL"] = "http://all:2";
  CHECK(options_of(environment)->endpoint == "http://all:2");
  environment["AWS_ENDPOINT_URL_S3"] = "http://s3:3/";
  CHECK(options_of(environment)->endpoint == "http://s3:3");
  environment["S3_ENDPOINT"] = "host:9000";
  CHECK(options_of(environment)->endpoint == "https://host:9000");
  environment["S3_USE_HTTPS"] = "0";
  CHECK(options_of(environment)->endpoint == "http://host:9000");
  environment["S3_ENDPOINT"] = "";
  environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  CHECK(options_of(environment)->endpoint.empty());
}

TEST_CASE("limits, certificates and region come from the environment", "[io][s3_options]") {
  const auto options = options_of({{"S3_VERIFY_SSL", "0"},
                                   {"S3_CA_FILE", "/ca.pem"},
                                   {"S3_CONNECT_TIMEOUT_MSEC", "2500"},
                                   {"S3_REQUEST_TIMEOUT_MSEC", "300000"},
                                   {"S3_MULTI_PART_UPLOAD_CHUNK_SIZE", "52428800"},
                                   {"S3_EXECUTOR_POOL_SIZE", "8"},
                                   {"S3_REGION", "eu-west-3"}});
  REQUIRE(options.ok());
  CHECK_FALSE(options->verify_tls);
  CHECK(options->ca_file == "/ca.pem");
  CHECK(options->connect_timeout == 2.5);
  CHECK(options->stall_timeout == 300);
  CHECK(options->part_bytes == 52428800);
  CHECK(options->parallel == 8);
  CHECK(options->region == "eu-west-3");
  CHECK(options_of({{"S3_REGION", "a"}, {"AWS_REGION", "b"}})->region == "b");
  CHECK(options_of({})->region == "us-east-1");
  CHECK(options_of({})->verify_tls);
}

TEST_CASE("a variable that makes no sense is named", "[io][s3_options]") {
  for (const auto& [name, value] : FakeEnvironment{{"S3_EXECUTOR_POOL_SIZE", "many"},
                                                   {"S3_CONNECT_TIMEOUT_MSEC", "0"},
                                                   {"S3_MULTI_PART_UPLOAD_CHUNK_SIZE", "100"},
                                                   {"S3_ENDPOINT", "http://host:port"},
                                                   {"AWS_ENDPOINT_URL", "ftp://host"}}) {
    const auto status = options_of({{name, value}}).status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(status.message()).find(name) != std::string::npos);
  }
}

TEST_CASE("URLs follow the rules of Amazon and of other servers", "[io][s3_options]") {
  const io::S3Path path{.bucket = "bucket", .key = "dir/a b"};
  CHECK(io::S3Client({}).url_of(path) == "https://bucket.s3.us-east-1.amazonaws.com/dir/a%20b");
  CHECK(io::S3Client({.region = "cn-north-1"}).url_of(path) ==
        "https://bucket.s3.cn-north-1.amazonaws.com.cn/dir/a%20b");
  CHECK(io::S3Client({.path_style = true}).url_of(path) ==
        "https://s3.us-east-1.amazonaws.com/bucket/dir/a%20b");
  CHECK(io::S3Client({}).url_of({.bucket = "my.bucket", .key = "k"}) ==
        "https://s3.us-east-1.amazonaws.com/my.bucket/k");
  CHECK(io::S3Client({.endpoint = "http://host:9000"}).url_of(path) ==
        "http://host:9000/bucket/dir/a%20b");
}

TEST_CASE("s3 paths are taken apart", "[io][s3_options]") {
  CHECK(io::parse_s3_path("s3://b/k/l")->key == "k/l");
  CHECK(io::parse_s3_path("s3://b")->bucket == "b");
  CHECK(io::parse_s3_path("s3://b/")->key.empty());
  for (const char* path : {"s3://", "s3:///k", "gs://b/k", "/b/k", ""})
    CHECK(io::parse_s3_path(path).status().code() == absl::StatusCode::kInvalidArgument);
}
