#include <distribute/base/status.hpp>
#include <distribute/object_stores/gcs_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_gcs.hpp>
#include <tests/support/whole_files.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

namespace {

constexpr int64_t kChunk = 256 << 10;

/// Never waits, always the same.
io::GcsOptions options_for(FakeGcs& fake, int64_t chunk_bytes) {
  io::GcsOptions options;
  options.endpoint = fake.server().url();
  options.authenticate = false;
  options.upload_chunk_bytes = chunk_bytes;
  options.retry.max_attempts = 4;
  options.retry.sleep = [](double) {};
  options.retry.random = [] { return 0.5; };
  return options;
}

struct Fixture {
  explicit Fixture(int64_t chunk_bytes = kChunk) : fs(options_for(fake, chunk_bytes)) {}
  FakeGcs fake;
  io::GcsFileSystem fs;

  absl::Status write(const std::string& path, const std::string& bytes, size_t piece = 100'000) {
    return write_in_pieces(fs, path, bytes, piece);
  }
  std::string read(const std::string& path) { return read_whole(fs, path); }
};

std::string message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

TEST_CASE("objects of all sizes come back as they were written", "[io][gcs]") {
  Fixture f;
  for (const size_t size : {size_t(0), size_t(1), size_t(kChunk), size_t(kChunk + 1),
                            size_t(3 * kChunk), size_t(3 * kChunk + 7)})
    for (const size_t piece : {size_t(1'000), size_t(kChunk), size_t(1) << 30}) {
      CAPTURE(size, piece);
      const std::string bytes = bytes_of(size);
      REQUIRE(f.write("gs://bucket/a b/%=+?#ü", bytes, piece).ok());
      CHECK(f.fake.objects() == std::map<std::string, std::string>{{"a b/%=+?#ü", bytes}});
      CHECK(f.read("gs://bucket/a b/%=+?#ü") == bytes);
      CHECK(*f.fs.file_size("gs://bucket/a b/%=+?#ü") == int64_t(size));
    }
  CHECK(f.fake.open_sessions() == 0);
}

TEST_CASE("an object appears when it is closed; dropped, its upload is cancelled", "[io][gcs]") {
  Fixture f;
  {
    auto file = value_or_throw(f.fs.create("gs://bucket/a"));
    REQUIRE(file->append(bytes_of(3 * kChunk)).ok());
    REQUIRE(file->flush().ok());
    CHECK(f.fake.open_sessions() == 1);
    CHECK(f.fake.objects().empty());
  }
  CHECK(f.fake.open_sessions() == 0);
  CHECK(f.fake.objects().empty());
}

TEST_CASE("directories are prefixes; long lists come in pages", "[io][gcs]") {
  Fixture f;
  f.fake.page_size = 2;
  for (const char* name : {"d/a", "d/b", "d/c/x", "d/c/y", "d/e", "da", "d/m/", "d/n/o/p"})
    f.fake.put(name, "bytes");
  CHECK(*f.fs.list_directory("gs://bucket/d") == Names{"a", "b", "c", "e", "m", "n"});
  CHECK(*f.fs.list_directory("gs://bucket/d/") == Names{"a", "b", "c", "e", "m", "n"});
  CHECK(*f.fs.list_directory("gs://bucket") == Names{"d", "da"});
  CHECK(*f.fs.list_directory("gs://bucket/m") == Names{});
  CHECK(*f.fs.is_directory("gs://bucket/d"));
  CHECK(*f.fs.is_directory("gs://bucket"));
  CHECK_FALSE(*f.fs.is_directory("gs://bucket/da"));
  CHECK(*f.fs.exists("gs://bucket/da"));
  CHECK(*f.fs.exists("gs://bucket/d/n"));
  CHECK_FALSE(*f.fs.exists("gs://bucket/x"));
  CHECK(f.fs.make_dirs("gs://bucket/new/one").ok());
  CHECK(f.fs.remove_file("gs://bucket/d").code() == absl::StatusCode::kNotFound);
  CHECK(f.fs.remove_directory("gs://bucket/d/m").ok());
  CHECK(f.fs.remove_directory("gs://bucket/d/m").ok());
  CHECK(f.fake.objects().size() == 7);
}

TEST_CASE("renaming copies, in several requests where it is large, and deletes", "[io][gcs]") {
  Fixture f;
  f.fake.rewrites = 3;
  f.fake.put("a/b", "bytes");
  f.fake.put("c", "old");
  REQUIRE(f.fs.rename("gs://bucket/a/b", "gs://bucket/c").ok());
  CHECK(f.fake.objects() == std::map<std::string, std::string>{{"c", "bytes"}});
  CHECK(f.fs.rename("gs://bucket/a/b", "gs://bucket/c").code() == absl::StatusCode::kNotFound);
  for (const char* name : {"d/1", "d/e/2", "dd"}) f.fake.put(name, name);
  REQUIRE(f.fs.rename("gs://bucket/d", "gs://bucket/n/m").ok());
  CHECK(f.fake.objects() ==
        std::map<std::string, std::string>{
            {"c", "bytes"}, {"dd", "dd"}, {"n/m/1", "d/1"}, {"n/m/e/2", "d/e/2"}});
}

TEST_CASE("uploads go on where a failure broke them off", "[io][gcs][fault]") {
  Fixture f(2 * kChunk);
  const std::string bytes = bytes_of(8 * kChunk + 99);
  std::atomic<int> puts{0};
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    const bool chunk = request.header("content-range").find("bytes */") == std::string::npos;
    if (request.method != "PUT" || !chunk) return {};
    switch (++puts) {
      case 2: return HttpServerReply{.status = 503};
      case 3: return HttpServerReply{.status = 200, .body = "cut", .reset_after = 0};
      case 6: return HttpServerReply{.status = 429};
      default: return {};
    }
  };
  SECTION("whole chunks") {}
  SECTION("the store keeps only some of each chunk") { f.fake.commit_limit = kChunk; }
  REQUIRE(f.write("gs://bucket/a", bytes, 300'000).ok());
  CHECK(f.read("gs://bucket/a") == bytes);
  CHECK(puts > 6);
}

TEST_CASE("an answer that is lost after the last byte does no harm", "[io][gcs][fault]") {
  Fixture f;
  const std::string bytes = bytes_of(2 * kChunk);
  std::atomic<int> lost{0};
  f.fake.loses = [&](const HttpServerRequest& request) {
    const bool first = request.header("content-range") == "bytes 0-262143/*";
    const bool last = request.header("content-range") == "bytes 262144-524287/524288";
    return (first && lost == 0 && ++lost) || (last && lost == 1 && ++lost);
  };
  REQUIRE(f.write("gs://bucket/a", bytes).ok());
  CHECK(lost == 2);
  CHECK(f.read("gs://bucket/a") == bytes);
}

TEST_CASE("an upload that is gone because it was finished counts as finished", "[io][gcs][fault]") {
  Fixture f;
  const std::string bytes = bytes_of(size_t(GENERATE(1, 2) * kChunk) + 5);
  const std::string old(bytes.size(), 'o');
  f.fake.put("a", old);
  const bool stored = GENERATE(true, false);
  std::atomic<int> ends{0};
  const auto is_last = [&](const HttpServerRequest& request) {
    const std::string range = request.header("content-range");
    return range.starts_with("bytes ") && !range.ends_with("/*");
  };
  // Either the last chunk is taken and its answer lost, or the store forgets the upload before.
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (!stored && is_last(request)) f.fake.forget_sessions();
    return {};
  };
  f.fake.loses = [&](const HttpServerRequest& request) {
    if (!stored || !is_last(request) || ends++ > 0) return false;
    f.fake.forget_sessions();
    return true;
  };
  const absl::Status status = f.write("gs://bucket/a", bytes);
  CAPTURE(status.ToString());
  CHECK(status.ok() == stored);
  CHECK(f.fake.objects().at("a") == (stored ? bytes : old));
  if (!stored) CHECK_THAT(message(status), Contains("session is gone") && Contains("request-17"));
}

TEST_CASE("an expired upload starts again where nothing is lost, else it says so",
          "[io][gcs][fault]") {
  Fixture f;
  auto early = value_or_throw(f.fs.create("gs://bucket/early"));
  auto late = value_or_throw(f.fs.create("gs://bucket/late"));
  const std::string bytes = bytes_of(2 * kChunk);
  bool forgot = false;
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.method == "PUT" && !std::exchange(forgot, true))
      return HttpServerReply{.status = 410};
    return {};
  };
  REQUIRE(early->append(bytes).ok());
  REQUIRE(early->close().ok());
  CHECK(f.read("gs://bucket/early") == bytes);
  REQUIRE(late->append(bytes).ok());
  f.fake.forget_sessions();
  const absl::Status status = late->close();
  CHECK(status.code() == absl::StatusCode::kAborted);
  CHECK_THAT(message(status), Contains("gs://bucket/late") && Contains("session is gone"));
}

TEST_CASE("a store that keeps failing is given up after the attempts", "[io][gcs][fault]") {
  Fixture f;
  std::atomic<int> requests{0};
  f.fake.fault = [&](const HttpServerRequest&) -> std::optional<HttpServerReply> {
    ++requests;
    return HttpServerReply{.status = 503, .body = "busy"};
  };
  const absl::Status status = f.fs.open("gs://bucket/a").status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(message(status), Contains("gs://bucket/a") && Contains("tried 4 times") &&
                                  Contains(f.fake.server().address()));
  CHECK(requests == 4);
  CHECK(f.write("gs://bucket/a", bytes_of(3 * kChunk)).code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("bytes that the store got wrong are an error, and the object goes", "[io][gcs][fault]") {
  Fixture f;
  f.fake.wrong_checksum = true;
  for (const size_t size : {size_t(10), size_t(2 * kChunk + 1)}) {
    const absl::Status status = f.write("gs://bucket/a", bytes_of(size));
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK_THAT(message(status), Contains("gs://bucket/a") && Contains("checksum"));
    CHECK(f.fake.objects().empty());
  }
}

TEST_CASE("reads survive failures and cut bodies, and notice another object", "[io][gcs][fault]") {
  Fixture f;
  const std::string bytes = bytes_of(1 << 20);
  f.fake.put("a", bytes);
  std::atomic<int> reads{0};
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (request.query() != "alt=media") return {};
    ++reads;
    if (reads == 1) return HttpServerReply{.status = 500};
    if (reads == 2)
      return HttpServerReply{
          .status = 206, .body = bytes.substr(0, 256 << 10), .reset_after = 1000};
    return {};
  };
  auto file = value_or_throw(f.fs.open("gs://bucket/a"));
  std::string piece(1000, '\0');
  REQUIRE(file->read(0, piece).ok());
  CHECK(piece == bytes.substr(0, 1000));
  CHECK(reads == 3);
  CHECK(*file->read_some(int64_t(bytes.size()), piece) == 0);
  f.fake.put("a", std::string(1 << 20, 'n'));
  const absl::Status status = file->read(900'000, piece);
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(message(status), Contains("replaced while it was read"));
}

TEST_CASE("what the store refuses is said with path, words, request and cure", "[io][gcs]") {
  Fixture f;
  const absl::Status missing = f.fs.open("gs://bucket/none").status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK_THAT(message(missing),
             Contains("gs://bucket/none") && Contains("No such object") && Contains("request-17"));
  f.fake.fault = [](const HttpServerRequest&) -> std::optional<HttpServerReply> {
    return HttpServerReply{.status = 403, .body = R"({"error":{"message":"no right"}})"};
  };
  const absl::Status forbidden = f.fs.remove_file("gs://bucket/a");
  CHECK(forbidden.code() == absl::StatusCode::kPermissionDenied);
  CHECK_THAT(message(forbidden), Contains("no right") && Contains("role"));
  for (const char* path : {"gs://", "gs:///a"})
    CHECK(f.fs.open(path).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(f.fs.open("gs://bucket").status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("without the bucket, or at another server, no object is just missing", "[io][gcs]") {
  Fixture f;
  // An emulator may say less, and a web server knows no bucket either.
  const std::string words = GENERATE("", "{}", "<html>no such page</html>");
  if (!words.empty())
    f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
      if (request.path().find("/b/vanished") == std::string::npos) return {};
      return HttpServerReply{.status = 404, .body = words};
    };
  CAPTURE(words);
  const std::string path = "gs://vanished/a/b";
  for (const absl::Status& status :
       {f.fs.open(path).status(), f.fs.exists(path).status(), f.fs.is_directory(path).status(),
        f.fs.is_directory("gs://vanished").status(), f.fs.file_size(path).status(),
        f.fs.list_directory(path).status()}) {
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(message(status), Contains("gs://vanished") && Contains(f.fake.server().url()) &&
                                    Contains("status 404 " + words) &&
                                    Contains("check the names of bucket and object"));
  }
  if (words.empty())
    for (const absl::Status& status : {f.write(path, "bytes"), f.fs.remove_file(path)}) {
      CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
      CHECK_THAT(message(status), Contains("bucket does not exist"));
    }
  CHECK(f.fs.open("gs://bucket/none").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("in a bucket that may not be listed an object can be missing", "[io][gcs]") {
  Fixture f;
  f.fake.put("a", "bytes");
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (!request.path().ends_with("/o")) return {};
    return HttpServerReply{.status = 403, .body = R"({"error":{"message":"no right"}})"};
  };
  CHECK(f.read("gs://bucket/a") == "bytes");
  CHECK(f.fs.open("gs://bucket/none").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("a credentials file that is not there is no missing object", "[io][gcs]") {
  FakeGcs fake;
  io::GcsOptions options = options_for(fake, kChunk);
  options.authenticate = true;
  options.auth.environment =
      std::map<std::string, std::string>{{"GOOGLE_APPLICATION_CREDENTIALS", "/nonexist"}};
  io::GcsFileSystem fs(options);
  for (const absl::Status& status :
       {fs.open("gs://bucket/a").status(), fs.exists("gs://bucket/a").status()}) {
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(message(status), Contains("gs://bucket/a") && Contains("/nonexist: No such file") &&
                                    Contains("GOOGLE_APPLICATION_CREDENTIALS names it"));
  }
  CHECK(fake.server().requests().empty());
}

TEST_CASE("an object that was removed while the answer got lost counts as removed",
          "[io][gcs][fault]") {
  Fixture f;
  std::atomic<int> calls{0};
  f.fake.fault = [&](const HttpServerRequest&) -> std::optional<HttpServerReply> {
    if (++calls == 1) return HttpServerReply{.status = 500};
    return {};
  };
  CHECK(f.fs.remove_file("gs://bucket/a").ok());
  CHECK(calls == 2);
}
