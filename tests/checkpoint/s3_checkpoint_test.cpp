/// What a training sees of an S3 server that refuses it in mid-run.
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>

#include <cstdlib>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;

namespace {

/// The server behind s3:// of this process, and the address that its credentials come from; none
/// where the environment names a server already.
class Store {
 public:
  static Store* of_process() {
    static auto* const store = std::getenv("S3_ENDPOINT") ? nullptr : new Store;
    return store;
  }

  FakeS3 s3;
  std::atomic<int> asked{0};  // times that credentials were asked for

  void set_token(const std::string& token) {
    const std::lock_guard lock(mutex_);
    token_ = token;
  }
  /// Requests with other credentials than these are refused.
  void want_token(const std::string& token) {
    s3.set_fault([=](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
      if (request.header("x-amz-security-token") == token) return std::nullopt;
      return FakeS3::error(400, "ExpiredToken");
    });
  }

 private:
  Store() {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
          "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"})
      ::unsetenv(name);
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    ::setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", container_.url().c_str(), 1);
    ::setenv("AWS_REGION", "us-east-1", 1);
    ::setenv("S3_ENDPOINT", s3.server().url().c_str(), 1);
  }

  HttpServerReply credentials() {
    ++asked;
    const std::lock_guard lock(mutex_);
    return {.body = R"({"AccessKeyId":"K","SecretAccessKey":"S","Token":")" + token_ +
                    R"(","Expiration":"2999-01-01T00:00:00Z"})"};
  }

  std::mutex mutex_;
  std::string token_ = "one";  // guarded by mutex_
  HttpServer container_{[this](const HttpServerRequest&) { return credentials(); }};
};

/// Saves that fail for a reason that may pass would be forgiven three times.
struct Training {
  Node node;
  Variable variable = node.add("v", Tensor(int64_t{0}));
  train::Checkpoint checkpoint{node};
  train::CheckpointManager manager{
      checkpoint, {.directory = "s3://bucket/job", .max_to_keep = 2, .max_failed_saves = 3}};

  std::optional<std::string> save(int64_t value) {
    variable.assign(Tensor(value));
    return manager.save();
  }
  int64_t value() const { return variable.value().item<int64_t>(); }
};

}  // namespace

#define NEEDS_S3()                                             \
  if (!io::has_http() || !io::has_digests() || !io::has_xml()) \
    SKIP("no libcurl, OpenSSL or pugixml");                    \
  if (!Store::of_process()) SKIP("S3_ENDPOINT names another server")

TEST_CASE("a refusal in mid-run names URL, request and cure, and the training keeps its state",
          "[checkpoint][s3]") {
  NEEDS_S3();
  Store& store = *Store::of_process();
  store.s3.clear();
  Training training;
  REQUIRE(training.save(1) == "s3://bucket/job/ckpt-1");
  struct Row {
    int status;
    const char *code, *cure;
    StatusCode expected;
  };
  const auto row = GENERATE(
      Row{404, "NoSuchBucket", "check the bucket's name, S3_ENDPOINT",
          StatusCode::FailedPrecondition},
      Row{403, "AccessDenied", "ask for s3:GetObject, s3:PutObject", StatusCode::PermissionDenied},
      Row{403, "InvalidAccessKeyId", "check the access key", StatusCode::PermissionDenied});
  store.s3.set_fault([=](const HttpServerRequest&) { return FakeS3::error(row.status, row.code); });
  StatusCode code = StatusCode::Ok;
  std::string error;
  try {
    training.save(2);
  } catch (const Error& refused) {
    code = refused.code();
    error = refused.what();
  }
  store.s3.set_fault({});
  INFO(error);
  CHECK(code == row.expected);
  CHECK_THAT(error, Contains("s3://bucket/job/ckpt-2") && Contains(row.code) &&
                        Contains("request id REQ1") && Contains(row.cure) &&
                        Contains(store.s3.server().url("/bucket/job/")));
  CHECK(training.value() == 2);
  CHECK(training.manager.latest_checkpoint() == "s3://bucket/job/ckpt-1");
  REQUIRE(training.save(3));  // the bucket is back
  Training next;
  CHECK(next.manager.restore_latest() == training.manager.latest_checkpoint());
  CHECK(next.value() == 3);
}

TEST_CASE("a bucket or a server that is not S3's is found before the first step",
          "[checkpoint][s3]") {
  NEEDS_S3();
  Store& store = *Store::of_process();
  store.s3.clear();
  Node node;
  train::Checkpoint checkpoint{node};
  const auto begin_in = [&](const std::string& directory) {
    return error_of<FailedPreconditionError>(
        [&] { train::CheckpointManager(checkpoint, {.directory = directory}); });
  };
  CHECK_THAT(begin_in("s3://nosuchbucket/a"),
             Contains("s3://nosuchbucket") && Contains("NoSuchBucket") &&
                 Contains(store.s3.server().url("/nosuchbucket")) &&
                 Contains("check the bucket's name, S3_ENDPOINT"));
  store.s3.set_fault([](const HttpServerRequest&) { return HttpServerReply{.status = 404}; });
  CHECK_THAT(begin_in("s3://bucket/job"), Contains("check S3_ENDPOINT"));
  store.s3.set_fault({});
  CHECK(begin_in("s3://bucket/job") == "no error");
}

TEST_CASE("a state file on S3 that names a missing checkpoint says what to write into it",
          "[checkpoint][s3]") {
  NEEDS_S3();
  Store& store = *Store::of_process();
  store.s3.clear();
  REQUIRE(Training().save(1));
  throw_if_error(io::write_file_atomically("s3://bucket/job/checkpoint",
                                           "model_checkpoint_path: \"ckpt-9\"\n"));
  CHECK_THAT(error_of<NotFoundError>([] { Training().manager.restore_latest(); }),
             Contains("s3://bucket/job/ckpt-9.index") &&
                 Contains("s3://bucket/job/checkpoint names it; write "
                          "`model_checkpoint_path: \"ckpt-1\"` into s3://bucket/job/checkpoint"));
}

TEST_CASE("credentials that expire in mid-run are renewed, or their source is named",
          "[checkpoint][s3]") {
  NEEDS_S3();
  Store& store = *Store::of_process();
  store.s3.clear();
  Training training;
  REQUIRE(training.save(1));
  store.set_token("two");
  store.want_token("two");
  const int before = store.asked;
  REQUIRE(training.save(2) == "s3://bucket/job/ckpt-2");
  CHECK(store.asked == before + 1);
  store.want_token("three");  // which no client has
  const std::string error = error_of<UnauthenticatedError>([&] { training.save(3); });
  CHECK_THAT(error, Contains("ExpiredToken") && Contains("renew them") &&
                        Contains("request id REQ1") && Contains("s3://bucket/job/ckpt-3"));
  store.set_token("three");
  REQUIRE(training.save(4));
  CHECK(training.value() == 4);
  store.s3.set_fault({});
}
