#include <distribute/http/credentials.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/s3_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>

using namespace distribute;

namespace {

const io::S3Path kObject{.bucket = "bucket", .key = "k"};

std::string some_text(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + " ";
  text.resize(size);
  return text;
}

/// Parts of 1000 bytes, which a real server would not take.
std::shared_ptr<io::S3Client> small_parts(const FakeS3& s3) {
  auto options = s3.options();
  options.part_bytes = options.copy_part_bytes = 1000;
  options.retry.max_attempts = 2;
  return std::make_shared<io::S3Client>(options);
}

}  // namespace

TEST_CASE("a file appears whole when it is closed, small or in parts", "[io][s3_upload]") {
  FakeS3 s3;
  const auto client = small_parts(s3);
  const size_t size = GENERATE(0, 1, 999, 1000, 1001, 2000, 12'345);
  const std::string text = some_text(size);
  auto file = io::s3_writable_file(client, kObject);
  for (size_t at = 0; at < size; at += 77) REQUIRE(file->append(text.substr(at, 77)).ok());
  REQUIRE(file->sync().ok());
  CHECK(s3.objects().empty());
  REQUIRE(file->close().ok());
  CHECK(s3.objects().at("k") == text);
  CHECK(s3.unfinished_uploads() == 0);
  CHECK(s3.count("POST") == (size > 1000 ? 2 : 0));
  CHECK(file->close().ok());
  CHECK(file->append("x").code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a file that is not closed leaves the old object and no parts", "[io][s3_upload]") {
  FakeS3 s3;
  s3.put("k", "old");
  for (const size_t size : {10, 5000}) {
    auto file = io::s3_writable_file(small_parts(s3), kObject);
    REQUIRE(file->append(some_text(size)).ok());
  }
  CHECK(s3.objects().at("k") == "old");
  CHECK(s3.unfinished_uploads() == 0);
}

TEST_CASE("a part that fails gives the upload up", "[io][s3_upload]") {
  FakeS3 s3;
  s3.put("k", "old");
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.query().find("partNumber=3") == std::string::npos) return std::nullopt;
    return FakeS3::error(403, "AccessDenied");
  });
  auto file = io::s3_writable_file(small_parts(s3), kObject);
  absl::Status status;
  for (int i = 0; status.ok() && i < 20; ++i) status = file->append(some_text(1000));
  CHECK(status.code() == absl::StatusCode::kPermissionDenied);
  CHECK(file->append("more").code() == absl::StatusCode::kPermissionDenied);
  CHECK(file->close().code() == absl::StatusCode::kPermissionDenied);
  CHECK(s3.objects().at("k") == "old");
  CHECK(s3.unfinished_uploads() == 0);
}

TEST_CASE("an upload whose end fails leaves the old object", "[io][s3_upload]") {
  FakeS3 s3;
  s3.put("k", "old");
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    const bool ends = request.method == "POST" && request.query().starts_with("uploadId=");
    return ends ? std::optional(FakeS3::error(200, "InternalError")) : std::nullopt;
  });
  auto file = io::s3_writable_file(small_parts(s3), kObject);
  REQUIRE(file->append(some_text(3000)).ok());
  CHECK(file->close().code() == absl::StatusCode::kUnavailable);
  CHECK(s3.objects().at("k") == "old");
  CHECK(s3.unfinished_uploads() == 0);
}

TEST_CASE("parts survive resets and errors that pass", "[io][s3_upload]") {
  FakeS3 s3;
  std::atomic<int> number{0};
  s3.set_fault([&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.method != "PUT" || ++number % 2 == 0) return std::nullopt;
    if (number % 4 == 1) return HttpServerReply{.body = "x", .reset_after = 0};
    return FakeS3::error(500, "InternalError");
  });
  auto options = s3.options();
  options.part_bytes = 1000;
  options.retry.max_attempts = 20;
  const std::string text = some_text(10'000);
  auto file = io::s3_writable_file(std::make_shared<io::S3Client>(options), kObject);
  REQUIRE(file->append(text).ok());
  REQUIRE(file->close().ok());
  CHECK(s3.objects().at("k") == text);
}

TEST_CASE("objects of any size are copied inside the store", "[io][s3_upload]") {
  FakeS3 s3;
  const auto client = small_parts(s3);
  const std::string text = some_text(GENERATE(10, 1000, 1001, 5432));
  s3.put("k", text);
  const io::S3Path copy{.bucket = "bucket", .key = "copy"};
  REQUIRE(io::copy_s3_object(*client, kObject, copy, int64_t(text.size())).ok());
  CHECK(s3.objects().at("copy") == text);
  CHECK(s3.count("GET") == 0);
  CHECK(s3.unfinished_uploads() == 0);
  const io::S3Path none{.bucket = "bucket", .key = "none"};
  CHECK(io::copy_s3_object(*client, none, copy, 5000).code() == absl::StatusCode::kNotFound);
  CHECK(s3.unfinished_uploads() == 0);
}
