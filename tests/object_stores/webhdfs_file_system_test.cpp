#include <distribute/base/status.hpp>
#include <distribute/object_stores/webhdfs_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_webhdfs.hpp>
#include <tests/support/whole_files.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

namespace {

io::WebHdfsOptions options_for(const std::vector<FakeWebHdfs*>& nodes) {
  io::WebHdfsOptions options;
  options.user = "me";
  for (FakeWebHdfs* node : nodes) options.clusters["cluster"].push_back(node->name_node().url());
  options.write_piece_bytes = 1000;
  options.retry.max_attempts = 3;
  options.retry.sleep = [](double) {};
  return options;
}

struct Fixture {
  FakeWebHdfs fake;
  io::WebHdfsFileSystem fs{options_for({&fake})};

  absl::Status write(const std::string& path, const std::string& bytes, size_t piece = 700) {
    return write_in_pieces(fs, path, bytes, piece);
  }
  std::string read(const std::string& path) { return read_whole(fs, path); }
};

std::string message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

TEST_CASE("files of all sizes go to the data node and come back", "[io][webhdfs]") {
  Fixture f;
  for (const size_t size : {0, 1, 1000, 1001, 5432})
    for (const size_t piece : {1, 700, 100'000}) {
      if (size > 2000 && piece == 1) continue;
      CAPTURE(size, piece);
      const std::string bytes = bytes_of(size);
      REQUIRE(f.write("hdfs://cluster/d/a b%+ü", bytes, piece).ok());
      CHECK(f.fake.files() == std::map<std::string, std::string>{{"/d/a b%+ü", bytes}});
      CHECK(f.read("hdfs://cluster/d/a b%+ü") == bytes);
    }
  CHECK(f.fake.name_node().requests().front().query() == "op=CREATE&overwrite=true&user.name=me");
  for (const auto& request : f.fake.name_node().requests()) CHECK(request.body.empty());
}

TEST_CASE("what was flushed is there for others", "[io][webhdfs]") {
  Fixture f;
  CHECK(f.fs.has_atomic_move());
  auto file = value_or_throw(f.fs.create("hdfs://cluster/a"));
  REQUIRE(file->append("one ").ok());
  REQUIRE(file->flush().ok());
  CHECK(f.read("hdfs://cluster/a") == "one ");
  REQUIRE(file->append("two").ok());
  file.reset();
  CHECK(f.read("hdfs://cluster/a") == "one two");
}

TEST_CASE("Hadoop's directories are made, listed and removed", "[io][webhdfs]") {
  Fixture f;
  REQUIRE(f.fs.make_dirs("hdfs://cluster/d/e").ok());
  REQUIRE(f.write("hdfs://cluster/d/z", "z").ok());
  CHECK(*f.fs.list_directory("hdfs://cluster/d") == Names{"e", "z"});
  CHECK(*f.fs.list_directory("hdfs://cluster") == Names{"d"});
  CHECK(*f.fs.is_directory("hdfs://cluster/d/e/"));
  CHECK_FALSE(*f.fs.is_directory("hdfs://cluster/d/z"));
  CHECK_FALSE(*f.fs.exists("hdfs://cluster/none"));
  CHECK(*f.fs.file_size("hdfs://cluster/d/z") == 1);
  CHECK(f.fs.remove_file("hdfs://cluster/d/e").code() == absl::StatusCode::kFailedPrecondition);
  CHECK(f.fs.remove_directory("hdfs://cluster/d").code() == absl::StatusCode::kFailedPrecondition);
  CHECK(f.fs.remove_file("hdfs://cluster/none").code() == absl::StatusCode::kNotFound);
  CHECK(f.fs.open("hdfs://cluster/d").status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(f.fs.list_directory("hdfs://cluster/d/z").status().code() ==
        absl::StatusCode::kFailedPrecondition);
  REQUIRE(f.fs.remove_file("hdfs://cluster/d/z").ok());
  REQUIRE(f.fs.remove_directory("hdfs://cluster/d/e").ok());
  CHECK(f.fs.list_directory("hdfs://cluster/d")->empty());
}

TEST_CASE("renaming replaces, at once on name nodes and in two steps on HttpFS", "[io][webhdfs]") {
  Fixture f;
  f.fake.replaces = GENERATE(true, false);
  REQUIRE(f.write("hdfs://cluster/a", "new").ok());
  REQUIRE(f.write("hdfs://cluster/b", "old").ok());
  REQUIRE(f.fs.rename("hdfs://cluster/a", "hdfs://cluster/b").ok());
  CHECK(f.fake.files() == std::map<std::string, std::string>{{"/b", "new"}});
  CHECK(f.fs.rename("hdfs://cluster/a", "hdfs://cluster/b").code() == absl::StatusCode::kNotFound);
  CHECK(f.fake.files().size() == 1);
}

TEST_CASE("a name node on standby, or gone, is followed by the next", "[io][webhdfs][fault]") {
  FakeWebHdfs first, second;
  io::WebHdfsFileSystem fs(options_for({&first, &second}));
  first.standby = true;
  REQUIRE(fs.make_dirs("hdfs://cluster/one").ok());
  REQUIRE(fs.make_dirs("hdfs://cluster/two").ok());
  CHECK(first.name_node().requests().size() == 1);  // then the other is known to be the active one
  CHECK(*fs.list_directory("hdfs://cluster") == Names{"one", "two"});
  first.standby = false;
  second.name_node().stop();
  CHECK(fs.list_directory("hdfs://cluster")->empty());
  first.standby = true;
  const absl::Status status = fs.make_dirs("hdfs://cluster/three");
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(message(status), Contains("hdfs://cluster/three"));
}

TEST_CASE("an append whose answer is lost is not repeated", "[io][webhdfs][fault]") {
  Fixture f;
  std::atomic<int> appends{0};
  const auto appends_here = [](const HttpServerRequest& request) {
    return request.method == "POST" && !request.body.empty();
  };
  f.fake.loses = [&](const HttpServerRequest& request) {
    return appends_here(request) && ++appends == 1;
  };
  f.fake.fault = [&](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    if (appends_here(request) && appends == 1 && ++appends)
      return HttpServerReply{.status = 200, .body = "x", .reset_after = 0};  // and nothing done
    return {};
  };
  const std::string bytes = bytes_of(4500);
  REQUIRE(f.write("hdfs://cluster/a", bytes).ok());
  CHECK(appends >= 4);
  CHECK(f.read("hdfs://cluster/a") == bytes);
}

TEST_CASE("Hadoop's exceptions become errors with path, words and cure", "[io][webhdfs]") {
  Fixture f;
  std::string name;
  int code = 403;
  f.fake.fault = [&](const HttpServerRequest&) -> std::optional<HttpServerReply> {
    if (name.empty()) return {};
    return FakeWebHdfs::exception(code, name, "the words\n\tat some.java.Class");
  };
  const absl::Status missing = f.fs.open("hdfs://cluster/none").status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK_THAT(message(missing), Contains("hdfs://cluster/none") && Contains("File does not exist") &&
                                   Contains(f.fake.name_node().address()));
  using Code = absl::StatusCode;
  for (const auto& [exception, wanted] :
       std::map<std::string, Code>{{"AccessControlException", Code::kPermissionDenied},
                                   {"SafeModeException", Code::kUnavailable},
                                   {"DSQuotaExceededException", Code::kResourceExhausted},
                                   {"FileAlreadyExistsException", Code::kAlreadyExists},
                                   {"SomethingElse", Code::kPermissionDenied}}) {
    name = exception;
    const absl::Status status = f.write("hdfs://cluster/a", "bytes");
    CAPTURE(exception, message(status));
    CHECK(status.code() == wanted);
    CHECK_THAT(message(status), Contains("the words") && !Contains("java.Class"));
  }
}

TEST_CASE("a server that is not Hadoop's misses no files", "[io][webhdfs]") {
  Fixture f;
  const int code = GENERATE(200, 404);
  f.fake.fault = [&](const HttpServerRequest&) -> std::optional<HttpServerReply> {
    return HttpServerReply{.status = code, .body = "<html>some page</html>"};
  };
  const std::string path = "hdfs://cluster/d/file";
  for (const absl::Status& status :
       {f.fs.open(path).status(), f.fs.exists(path).status(), f.fs.is_directory(path).status(),
        f.fs.file_size(path).status(), f.fs.list_directory(path).status()}) {
    CAPTURE(code, message(status));
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(message(status), Contains(path) && Contains("WebHDFS"));
  }
}

TEST_CASE("a delegation token stands in for the user, and stays out of messages", "[io][webhdfs]") {
  FakeWebHdfs fake;
  fake.delegation = "secret-token";
  auto options = options_for({&fake});
  CHECK(io::WebHdfsFileSystem(options).make_dirs("hdfs://cluster/d").code() ==
        absl::StatusCode::kUnauthenticated);
  options.delegation = "secret-token";
  io::WebHdfsFileSystem fs(options);
  CHECK(fs.make_dirs("hdfs://cluster/d").ok());
  CHECK_THAT(message(fs.open("hdfs://cluster/none").status()), !Contains("secret-token"));
}
