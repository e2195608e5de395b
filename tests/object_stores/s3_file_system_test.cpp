#include <distribute/base/environment.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

namespace {

absl::Status write(io::FileSystem& fs, const std::string& path, const std::string& bytes) {
  auto file = fs.create(path);
  if (!file.ok()) return file.status();
  const absl::Status status = (*file)->append(bytes);
  return status.ok() ? (*file)->close() : status;
}

std::string read(io::FileSystem& fs, const std::string& path) {
  auto file = value_or_throw(fs.open(path));
  std::string bytes(size_t(file->size()), '\0');
  throw_if_error(file->read(0, bytes));
  return bytes;
}

bool contains(const absl::Status& status, const std::string& part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("files are written, read, replaced and removed", "[io][s3_file_system]") {
  FakeS3 s3;
  io::S3FileSystem fs(s3.options());
  CHECK_FALSE(fs.has_atomic_move());
  REQUIRE(write(fs, "s3://bucket/dir/file", "one").ok());
  REQUIRE(write(fs, "s3://bucket/dir/file", "two!").ok());
  REQUIRE(write(fs, "s3://bucket/empty", "").ok());
  CHECK(read(fs, "s3://bucket/dir/file") == "two!");
  CHECK(read(fs, "s3://bucket/empty").empty());
  CHECK(*fs.file_size("s3://bucket/dir/file") == 4);
  REQUIRE(fs.remove_file("s3://bucket/dir/file").ok());
  CHECK(fs.remove_file("s3://bucket/dir/file").code() == absl::StatusCode::kNotFound);
  CHECK(fs.open("s3://bucket/dir/file").status().code() == absl::StatusCode::kNotFound);
  CHECK(fs.file_size("s3://bucket/dir/file").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("paths with s3:// find their file system", "[io][s3_file_system]") {
  const auto fs = io::file_system_for("s3://bucket/key");
  REQUIRE(fs.ok());
  CHECK(dynamic_cast<io::S3FileSystem*>(*fs) != nullptr);
  CHECK(*fs == *io::file_system_for("s3://other"));
}

TEST_CASE("directories are prefixes of keys", "[io][s3_file_system]") {
  FakeS3 s3;
  for (const char* key : {"a/b/c", "a/b/d", "a/z", "a.txt", "a/", "m"}) s3.put(key, "x");
  io::S3FileSystem fs(s3.options());
  CHECK(*fs.list_directory("s3://bucket/a") == Names{"b", "z"});
  CHECK(*fs.list_directory("s3://bucket/a/") == Names{"b", "z"});
  CHECK(*fs.list_directory("s3://bucket") == Names{"a", "a.txt", "m"});
  CHECK(fs.list_directory("s3://bucket/none")->empty());
  CHECK(*fs.exists("s3://bucket/a/z"));
  CHECK(*fs.exists("s3://bucket/a/b"));
  CHECK_FALSE(*fs.exists("s3://bucket/a/bb"));
  CHECK(*fs.is_directory("s3://bucket/a"));
  CHECK(*fs.is_directory("s3://bucket"));
  CHECK_FALSE(*fs.is_directory("s3://bucket/a/z"));
  CHECK_FALSE(*fs.is_directory("s3://bucket/no"));
  CHECK(fs.make_dirs("s3://bucket/new/dir").ok());
  CHECK(fs.sync_directory("s3://bucket/new/dir").ok());
  CHECK(fs.open("s3://bucket/a").status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(fs.create("s3://bucket/a/").status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(fs.remove_directory("s3://bucket/a").code() == absl::StatusCode::kFailedPrecondition);
  s3.put("marked/", "");
  CHECK(fs.remove_directory("s3://bucket/marked").ok());
  CHECK_FALSE(s3.objects().contains("marked/"));
  CHECK(fs.remove_directory("s3://bucket/nothing").ok());
}

TEST_CASE("rename copies and removes files and directories", "[io][s3_file_system]") {
  FakeS3 s3;
  for (const char* key : {"f", "d/1", "d/2/3", "dd"}) s3.put(key, key);
  io::S3FileSystem fs(s3.options());
  REQUIRE(fs.rename("s3://bucket/f", "s3://bucket/g/f").ok());
  REQUIRE(fs.rename("s3://bucket/d", "s3://bucket/e").ok());
  REQUIRE(fs.rename("s3://bucket/dd", "s3://bucket/dd").ok());
  CHECK(s3.objects() == std::map<std::string, std::string>{
                            {"g/f", "f"}, {"e/1", "d/1"}, {"e/2/3", "d/2/3"}, {"dd", "dd"}});
  CHECK(fs.rename("s3://bucket/none", "s3://bucket/x").code() == absl::StatusCode::kNotFound);
  CHECK(fs.rename("s3://bucket/e", "s3://bucket/e/in").code() ==
        absl::StatusCode::kInvalidArgument);
  // The old file stays when the copy fails.
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.header("x-amz-copy-source").empty()) return std::nullopt;
    return FakeS3::error(200, "AccessDenied");
  });
  CHECK_FALSE(fs.rename("s3://bucket/dd", "s3://bucket/x").ok());
  CHECK(s3.objects().contains("dd"));
}

TEST_CASE("a tree is removed in batches, a bucket never", "[io][s3_file_system]") {
  FakeS3 s3;
  for (int i = 0; i < 2500; ++i) s3.put("tree/" + std::to_string(i), "");
  s3.put("tree2/keep", "");
  io::S3FileSystem fs(s3.options());
  REQUIRE(fs.remove_tree("s3://bucket/tree").ok());
  CHECK(s3.objects().size() == 1);
  CHECK(s3.count("POST") == 3);
  CHECK(s3.count("DELETE") == 0);
  CHECK(fs.remove_tree("s3://bucket").code() == absl::StatusCode::kInvalidArgument);
  CHECK(fs.remove_tree("s3://bucket/").code() == absl::StatusCode::kInvalidArgument);
  CHECK(fs.remove_tree("s3://bucket/none").ok());
}

TEST_CASE("an open file keeps to its version of the object", "[io][s3_file_system]") {
  FakeS3 s3;
  s3.put("k", std::string(1'000'000, 'a'));
  io::S3FileSystem fs(s3.options());
  auto file = value_or_throw(fs.open("s3://bucket/k"));
  std::string piece(100, '\0');
  REQUIRE(file->read(0, piece).ok());
  s3.put("k", std::string(1'000'000, 'b'));
  const auto status = file->read(900'000, piece);
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(status, "was changed or removed meanwhile"));
}

TEST_CASE("a bucket that is not there is named, by whatever finds it", "[io][s3_file_system]") {
  FakeS3 s3;
  io::S3FileSystem fs(s3.options());
  const std::string path = "s3://other/dir/file";
  for (const absl::Status& status :
       {fs.open(path).status(), fs.exists(path).status(), fs.list_directory(path).status(),
        write(fs, path, "x"), fs.rename(path, "s3://other/g")}) {
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(contains(status, "NoSuchBucket"));
    CHECK(contains(status, "check the bucket's name, S3_ENDPOINT"));
  }
  CHECK(fs.open("s3://").status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a server that is not S3's misses no files", "[io][s3_file_system]") {
  FakeS3 s3;
  s3.set_fault([](const HttpServerRequest&) {
    return HttpServerReply{.status = 404, .body = "<html>no such page</html>"};
  });
  io::S3FileSystem fs(s3.options());
  const std::string path = "s3://bucket/dir/file";
  for (const absl::Status& status :
       {fs.open(path).status(), fs.exists(path).status(), fs.is_directory(path).status(),
        fs.list_directory(path).status(), write(fs, path, "x")}) {
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(contains(status, "not that of an S3 server: check S3_ENDPOINT"));
    CHECK(contains(status, s3.server().url("/bucket/")));
  }
}

TEST_CASE("a bucket that may not be listed is read all the same", "[io][s3_file_system]") {
  FakeS3 s3;
  s3.put("dir/file", "bytes");
  s3.set_fault([](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.query().find("list-type") == std::string::npos) return std::nullopt;
    return FakeS3::error(403, "AccessDenied");
  });
  io::S3FileSystem fs(s3.options());
  CHECK(read(fs, "s3://bucket/dir/file") == "bytes");
  CHECK(*fs.exists("s3://bucket/dir/file"));
  const absl::Status missing = fs.open("s3://bucket/dir/none").status();
  CHECK(missing.code() == absl::StatusCode::kPermissionDenied);
  CHECK(contains(missing, "s3:ListBucket"));
}

TEST_CASE("a profile that is nowhere is no missing file", "[io][s3_file_system]") {
  ::setenv("AWS_PROFILE", "nosuch", 1);
  const absl::Status status = io::S3FileSystem().open("s3://bucket/dir/file").status();
  ::unsetenv("AWS_PROFILE");
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(status, "s3://bucket/dir/file: the profile 'nosuch' (AWS_PROFILE)"));
  CHECK(contains(status, "aws configure --profile nosuch"));
}

TEST_CASE("a closed endpoint: the error names it after a few tries", "[io][s3_file_system]") {
  io::S3Options options;
  {
    FakeS3 s3;
    options = s3.options();
  }
  io::S3FileSystem fs(options);
  const auto status = fs.open("s3://bucket/k").status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(status, "HEAD " + options.endpoint + "/bucket/k"));
  CHECK(contains(status, "(tried 6 times)"));
}

TEST_CASE("records are written to s3:// and streamed back, resets or not", "[io][s3_file_system]") {
  FakeS3 s3;
  // The file system of s3:// takes its settings once, from the environment of this process.
  const std::pair<const char*, std::string> settings[] = {
      {"S3_ENDPOINT", s3.server().url()},
      {"AWS_ACCESS_KEY_ID", "KEY"},
      {"AWS_SECRET_ACCESS_KEY", "SECRET"},
      {"AWS_REGION", "us-east-1"},
      {"S3_MULTI_PART_DOWNLOAD_CHUNK_SIZE", "65536"}};
  std::vector<std::pair<std::string, std::string>> before;
  for (const auto& [name, value] : settings) {
    before.emplace_back(name, Environment().text(name));
    ::setenv(name, value.c_str(), 1);
  }
  const auto fs = io::s3_file_system();
  REQUIRE_FALSE(fs->exists("s3://bucket/none").value_or(true));  // it has them now
  for (const auto& [name, value] : before)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);

  std::string framed;
  for (int i = 0; i < 20'000; ++i)
    framed += io::frame_record("record " + std::to_string(i) + std::string(i % 50, 'x'));
  REQUIRE(write(*fs, "s3://bucket/data.tfrecord", framed).ok());
  std::atomic<int> number{0};
  s3.set_fault([&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.method != "GET" || ++number % 7 != 3) return std::nullopt;
    return HttpServerReply{.status = 206,
                           .body = std::string(65536, 'z'),
                           .headers = {{"Content-Range", "bytes 0-65535/65536"}},
                           .reset_after = 1000};
  });
  const auto file = value_or_throw(fs->open("s3://bucket/data.tfrecord"));
  std::string all, piece(4096, '\0');
  for (int64_t count = 1; count > 0; all.append(piece, 0, size_t(count)))
    count = value_or_throw(file->read_some(int64_t(all.size()), piece));
  REQUIRE(all == framed);
  io::RecordReader reader(io::memory_input_stream(all, "data"));
  std::string record;
  int records = 0;
  while (value_or_throw(reader.next(record))) ++records;
  CHECK(records == 20'000);
  CHECK(number > 10);
}
