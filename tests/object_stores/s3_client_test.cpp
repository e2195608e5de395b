#include <distribute/http/credentials.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>
#include <distribute/object_stores/detail/s3_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>

using namespace distribute;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string text_of(const absl::Status& status) { return std::string(status.message()); }

const io::S3Path kObject{.bucket = "bucket", .key = "dir/a b+c"};

/// The first `count` requests get this reply.
FakeS3::Fault first(int count, HttpServerReply reply) {
  auto left = std::make_shared<std::atomic<int>>(count);
  return [left, reply](const HttpServerRequest&) {
    return --*left >= 0 ? std::optional(reply) : std::nullopt;
  };
}

absl::StatusOr<std::string> read(io::S3Client& client, const io::S3Path& path = kObject) {
  std::string out(100, '\0');
  auto count = client.get(path, 0, out, "");
  if (!count.ok()) return count.status();
  out.resize(size_t(*count));
  return out;
}

}  // namespace

TEST_CASE("objects are written, looked at, read in ranges and removed", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  REQUIRE(client.put(kObject, "0123456789").ok());
  CHECK(s3.objects().at("dir/a b+c") == "0123456789");
  const auto info = client.head(kObject);
  REQUIRE(info.ok());
  CHECK(info->size == 10);
  std::string out(4, '\0');
  CHECK(*client.get(kObject, 3, out, info->etag) == 4);
  CHECK(out == "3456");
  CHECK(*client.get(kObject, 8, out, info->etag) == 2);
  CHECK(*client.get(kObject, 10, out, info->etag) == 0);
  CHECK(client.get(kObject, 0, out, "\"other\"").status().code() ==
        absl::StatusCode::kFailedPrecondition);
  REQUIRE(client.remove(kObject).ok());
  CHECK(s3.objects().empty());
  for (const auto& request : s3.server().requests())
    CHECK(contains(request.header("authorization"), "AWS4-HMAC-SHA256 Credential=KEY/"));
}

TEST_CASE("listings come in pages, with keys as they are", "[io][s3_client]") {
  FakeS3 s3;
  for (const char* key : {"d/1", "d/2 &<", "d/3+", "d/sub/x", "d/sub/y", "e"}) s3.put(key, "x");
  io::S3Client client(s3.options());
  std::vector<std::string> keys, prefixes;
  std::string continuation;
  int pages = 0;
  do {
    auto page = client.list({"bucket", "d/"}, "/", 2, continuation);
    REQUIRE(page.ok());
    keys.insert(keys.end(), page->keys.begin(), page->keys.end());
    prefixes.insert(prefixes.end(), page->prefixes.begin(), page->prefixes.end());
    continuation = page->continuation;
    ++pages;
  } while (!continuation.empty());
  CHECK(keys == std::vector<std::string>{"d/1", "d/2 &<", "d/3+"});
  CHECK(prefixes == std::vector<std::string>{"d/sub/"});
  CHECK(pages == 2);
  REQUIRE(client.remove_all("bucket", {"d/1", "d/2 &<", "d/3+"}).ok());
  CHECK(s3.objects().size() == 3);
}

TEST_CASE("failures that pass are tried again", "[io][s3_client]") {
  FakeS3 s3;
  s3.put(kObject.key, "data");
  io::S3Client client(s3.options());
  SECTION("500 and 503") {
    s3.set_fault(first(2, FakeS3::error(GENERATE(500, 503), "InternalError")));
    CHECK(*read(client) == "data");
  }
  SECTION("a reset in the middle of the body") {
    s3.set_fault(first(2, {.body = "data", .reset_after = 2}));
    CHECK(*read(client) == "data");
  }
  SECTION("400 RequestTimeout and 409 OperationAborted") {
    s3.set_fault(first(2, FakeS3::error(GENERATE(400, 409), "RequestTimeout")));
    CHECK(*read(client) == "data");
  }
  SECTION("a body that stops coming") {
    auto options = s3.options();
    options.stall_timeout = 1;
    io::S3Client impatient(options);
    s3.set_fault(first(1, {.body = "data", .stall_after = 1}));
    CHECK(*read(impatient) == "data");
  }
  SECTION("200 with an error in its body, after a copy") {
    s3.set_fault(first(2, FakeS3::error(200, "InternalError")));
    REQUIRE(client.copy(kObject, {"bucket", "copy"}).ok());
    CHECK(s3.objects().at("copy") == "data");
  }
}

TEST_CASE("tries have a limit, and the error says so", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  s3.set_fault(first(1000, FakeS3::error(503, "SlowDown")));
  auto status = read(client).status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(text_of(status), "SlowDown: text of SlowDown (HTTP 503, request id REQ1, GET " +
                                      s3.server().url("/bucket/dir/a%20b%2Bc")));
  CHECK(s3.server().requests().size() == 6);
  s3.set_fault(first(1000, {.body = "data", .reset_after = 2}));
  status = read(client).status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(text_of(status), "cannot read s3://bucket/dir/a b+c: GET http://"));
  CHECK(contains(text_of(status), "(tried 6 times)"));
  s3.set_fault(first(1000, FakeS3::error(200, "InternalError")));
  CHECK(client.copy(kObject, {"bucket", "copy"}).code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("what cannot pass is said at once, with a cure", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  struct Row {
    int status;
    const char* code;
    absl::StatusCode expected;
    const char* cure;
  };
  const auto row = GENERATE(
      Row{403, "AccessDenied", absl::StatusCode::kPermissionDenied, "ask for s3:GetObject"},
      Row{403, "SignatureDoesNotMatch", absl::StatusCode::kPermissionDenied,
          "check the access key and the secret key, which came from AWS_ACCESS_KEY_ID"},
      Row{403, "InvalidAccessKeyId", absl::StatusCode::kPermissionDenied, "check the access key"},
      Row{404, "NoSuchBucket", absl::StatusCode::kFailedPrecondition, "the region 'us-east-1'"},
      Row{404, "NoSuchKey", absl::StatusCode::kNotFound, "text of NoSuchKey"},
      Row{412, "PreconditionFailed", absl::StatusCode::kFailedPrecondition, "meanwhile"},
      Row{400, "InvalidRequest", absl::StatusCode::kInvalidArgument, "text of InvalidRequest"},
      Row{501, "NotImplemented", absl::StatusCode::kUnimplemented, "NotImplemented"},
      Row{400, "ExpiredToken", absl::StatusCode::kUnauthenticated, "have expired: renew them"});
  INFO(row.code);
  s3.set_fault(first(1000, FakeS3::error(row.status, row.code)));
  const auto status = read(client).status();
  CHECK(status.code() == row.expected);
  CHECK(contains(text_of(status), row.cure));
  CHECK(contains(text_of(status), "request id REQ1"));
  CHECK(contains(text_of(status), s3.server().url("/bucket/")));
  CHECK(s3.server().requests().size() == 1);
  // Nothing but the status tells what HEAD found.
  const bool hidden = row.status == 404;
  CHECK(client.head(kObject).status().code() ==
        (hidden ? absl::StatusCode::kNotFound : row.expected));
}

TEST_CASE("an endpoint that is no S3 server is told apart", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  for (const int status : {404, 405}) {
    s3.set_fault(first(1000, {.status = status, .body = "<html>No such page</html>"}));
    CHECK(contains(text_of(read(client).status()), "not that of an S3 server: check S3_ENDPOINT"));
    CHECK(read(client).status().code() != absl::StatusCode::kNotFound);
  }
  s3.set_fault(first(1000, {.body = "<html>Welcome</html>"}));
  CHECK(contains(text_of(client.list({"bucket", ""}, "", 1).status()), "check S3_ENDPOINT"));
  CHECK(contains(text_of(client.start_upload(kObject).status()), "check S3_ENDPOINT"));
}

TEST_CASE("expired credentials are renewed once", "[io][s3_client]") {
  std::atomic<int> asked{0};
  HttpServer container([&](const HttpServerRequest&) {
    const std::string token = asked++ == 0 ? "old" : "new";
    return HttpServerReply{.body = R"({"AccessKeyId":"K","SecretAccessKey":"S","Token":")" + token +
                                   R"(","Expiration":"2999-01-01T00:00:00Z"})"};
  });
  FakeS3 s3;
  s3.put(kObject.key, "data");
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.header("x-amz-security-token") == "new") return std::nullopt;
    if (request.method == "HEAD") return HttpServerReply{.status = 400};
    return FakeS3::error(400, "ExpiredToken");
  });
  const FakeEnvironment environment{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", container.url()},
                                    {"AWS_EC2_METADATA_DISABLED", "true"}};
  io::S3Client client(s3.options(environment));
  SECTION("found by a GET") { CHECK(*read(client) == "data"); }
  SECTION("found by a HEAD, whose answer does not say why") {
    CHECK(client.head(kObject)->size == 4);
  }
  CHECK(asked == 2);
}

TEST_CASE("a clock that is wrong is corrected by the server's", "[io][s3_client]") {
  FakeS3 s3;
  s3.put(kObject.key, "data");
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.header("x-amz-date").starts_with("20400102T")) return std::nullopt;
    auto reply = FakeS3::error(403, "RequestTimeTooSkewed");
    reply.headers.emplace_back("Date", "Mon, 02 Jan 2040 03:04:05 GMT");
    return reply;
  });
  io::S3Client client(s3.options());
  CHECK(*read(client) == "data");
  CHECK(*read(client) == "data");
  CHECK(s3.server().requests().size() == 3);  // the second read knows it
  s3.set_fault(first(1000, FakeS3::error(403, "RequestTimeTooSkewed")));
  const auto status = read(client).status();
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(text_of(status), "set this host's clock (NTP)"));
}

TEST_CASE("a bucket's region is learned from the answer", "[io][s3_client]") {
  FakeS3 s3;
  s3.put(kObject.key, "data");
  const bool by_header = GENERATE(true, false);
  s3.set_fault([=](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (contains(request.header("authorization"), "/eu-west-1/s3/")) return std::nullopt;
    if (!by_header)
      return FakeS3::error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>");
    auto reply = FakeS3::error(301, "PermanentRedirect");
    reply.headers.emplace_back("x-amz-bucket-region", "eu-west-1");
    return reply;
  });
  io::S3Client client(s3.options());
  CHECK(*read(client) == "data");
  CHECK(*read(client) == "data");
  CHECK(s3.server().requests().size() == 3);
}

TEST_CASE("anonymous requests are not signed, and a refusal says so", "[io][s3_client]") {
  FakeS3 s3;
  s3.put(kObject.key, "public");
  io::S3Client client(s3.options({{"AWS_EC2_METADATA_DISABLED", "true"}}));
  CHECK(*read(client) == "public");
  CHECK(s3.server().requests()[0].header("authorization").empty());
  s3.set_fault(first(1, FakeS3::error(403, "AccessDenied")));
  CHECK(contains(text_of(read(client).status()),
                 "was not signed, credentials came from nowhere: no AWS_ACCESS_KEY_ID"));
}

TEST_CASE("bytes that were changed on the way are not believed", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  REQUIRE(client.put(kObject, "data").ok());
  CHECK(s3.server().requests()[0].header("x-amz-checksum-crc32c").size() == 8);
  CHECK(*read(client) == "data");
  s3.put(kObject.key, "dada");  // the checksum stays
  CHECK(read(client).status().code() == absl::StatusCode::kDataLoss);
  s3.set_fault(
      first(1, {.status = 206, .body = "data", .headers = {{"Content-Range", "bytes 4-7/100"}}}));
  CHECK(read(client).status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("parts are signed with the hash of their bytes", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  const auto id = client.start_upload(kObject);
  REQUIRE(id.ok());
  REQUIRE(client.upload_part(kObject, *id, 1, "part").ok());  // the server compares
  const auto request = s3.server().requests().back();
  CHECK(request.header("x-amz-content-sha256") == io::aws_payload_hash("part"));
  CHECK(contains(request.header("authorization"), "x-amz-content-sha256"));
}

TEST_CASE("an upload that was finished by a lost try counts as finished", "[io][s3_client]") {
  FakeS3 s3;
  io::S3Client client(s3.options());
  const auto id = client.start_upload(kObject);
  REQUIRE(id.ok());
  const auto etag = client.upload_part(kObject, *id, 1, "part");
  REQUIRE(etag.ok());
  REQUIRE(client.finish_upload(kObject, *id, {*etag}, 4).ok());
  CHECK(client.finish_upload(kObject, *id, {*etag}, 4).ok());
  CHECK(client.finish_upload(kObject, *id, {*etag}, 5).code() == absl::StatusCode::kNotFound);
}

TEST_CASE("an upload whose end is never answered is looked for", "[io][s3_client]") {
  FakeS3 s3;
  s3.put(kObject.key, "ptar");  // an older object of the same size
  io::S3Client client(s3.options());
  const auto id = client.start_upload(kObject);
  REQUIRE(id.ok());
  const auto first_part = client.upload_part(kObject, *id, 1, "pa");
  const auto last_part = client.upload_part(kObject, *id, 2, "rt");
  REQUIRE((first_part.ok() && last_part.ok()));
  const auto ends = [](const HttpServerRequest& request) {
    return request.method == "POST" && request.query().starts_with("uploadId=");
  };
  const bool done = GENERATE(true, false);
  if (done) s3.loses = ends;
  s3.set_fault([=](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (done || !ends(request)) return std::nullopt;
    return HttpServerReply{.body = "x", .reset_after = 0};
  });
  const auto status = client.finish_upload(kObject, *id, {*first_part, *last_part}, 4);
  CAPTURE(status.ToString());
  CHECK(s3.objects().at(kObject.key) == (done ? "part" : "ptar"));
  CHECK(status.ok() == done);
  if (!done) CHECK(contains(text_of(status), "(tried 6 times)"));
  CHECK(client.head(kObject)->size == 4);
}
