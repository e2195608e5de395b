/// What every object store must do, against the real server that scripts/object_store_check.sh
/// starts and names in DISTRIBUTE_OBJECT_STORE_URL, such as s3://bucket.
#include <distribute/base/status.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

namespace {

std::string store_url() { return Environment().text("DISTRIBUTE_OBJECT_STORE_URL"); }

/// A fresh place on the store, removed with everything in it afterwards.
class Place {
 public:
  Place() : path_(store_url() + "/test_" + std::to_string(std::random_device()())) {}
  ~Place() { io::remove_recursively(path_).IgnoreError(); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  io::FileSystem& fs() const { return *value_or_throw(io::file_system_for(path_)); }

 private:
  std::string path_;
};

void write(const std::string& path, const std::string& bytes) {
  auto file = value_or_throw(value_or_throw(io::file_system_for(path))->create(path));
  throw_if_error(file->append(bytes));
  throw_if_error(file->close());
}

std::string some_bytes(size_t size) {
  std::mt19937_64 generator(3);
  std::string bytes(size, '\0');
  for (size_t i = 0; i + 8 <= size; i += 8) {
    const uint64_t number = generator();
    std::copy_n(reinterpret_cast<const char*>(&number), 8, bytes.data() + i);
  }
  return bytes;
}

}  // namespace

#define NEEDS_STORE()                        \
  if (store_url().empty())                   \
  SKIP(                                      \
      "no DISTRIBUTE_OBJECT_STORE_URL; see " \
      "scripts/object_store_check.sh")

TEST_CASE("a store keeps files under any name", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  for (const std::string name : {"plain", "a b+c=@:,!*'()&", "f\xC3\xBCr/\xE2\x82\xAC", "x%20y"}) {
    INFO(name);
    write(place / name, "contents of " + name);
    CHECK(*io::read_file(place / name) == "contents of " + name);
    CHECK(*place.fs().exists(place / name));
    CHECK(*place.fs().file_size(place / name) == int64_t(12 + name.size()));
  }
  write(place / "empty", "");
  CHECK(io::read_file(place / "empty")->empty());
  write(place / "plain", "another");
  CHECK(*io::read_file(place / "plain") == "another");
  CHECK(*place.fs().list_directory(place.path()) ==
        Names{"a b+c=@:,!*'()&", "empty", "f\xC3\xBCr", "plain", "x%20y"});
}

TEST_CASE("a store keeps a file that is written in parts", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  const std::string bytes = some_bytes((12 << 20) + 12345);
  write(place / "big", bytes);
  CHECK(*io::read_file(place / "big") == bytes);
  auto file = value_or_throw(place.fs().open(place / "big"));
  CHECK(file->size() == int64_t(bytes.size()));
  std::string streamed, piece(100'000, '\0');
  for (int64_t count = 1; count > 0; streamed.append(piece, 0, size_t(count)))
    count = value_or_throw(file->read_some(int64_t(streamed.size()), piece));
  CHECK(streamed == bytes);
  std::mt19937 generator(1);
  for (int i = 0; i < 10; ++i) {
    const size_t offset = generator() % (bytes.size() - 1000);
    REQUIRE(file->read(int64_t(offset), std::span(piece).first(1000)).ok());
    CHECK(piece.substr(0, 1000) == bytes.substr(offset, 1000));
  }
}

TEST_CASE("a file that is not closed never appears on a store", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  {
    auto file = value_or_throw(place.fs().create(place / "unfinished"));
    throw_if_error(file->append(some_bytes(11 << 20)));
  }
  CHECK_FALSE(*place.fs().exists(place / "unfinished"));
  REQUIRE(io::write_file_atomically(place / "dir/whole", "whole").ok());
  CHECK(*place.fs().list_directory(place / "dir") == Names{"whole"});
}

TEST_CASE("a store's directories are listed, renamed and removed", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  REQUIRE(place.fs().make_dirs(place / "d/e").ok());
  for (const char* name : {"d/1", "d/e/2", "d/e/3", "dd/4"}) write(place / name, name);
  CHECK(*place.fs().list_directory(place / "d") == Names{"1", "e"});
  CHECK(*place.fs().is_directory(place / "d"));
  CHECK_FALSE(*place.fs().is_directory(place / "d/1"));
  CHECK_FALSE(*place.fs().exists(place / "d/2"));
  REQUIRE(place.fs().rename(place / "d/1", place / "moved").ok());
  CHECK(*io::read_file(place / "moved") == "d/1");
  CHECK_FALSE(*place.fs().exists(place / "d/1"));
  REQUIRE(place.fs().rename(place / "d/e", place / "new").ok());
  CHECK(*place.fs().list_directory(place / "new") == Names{"2", "3"});
  REQUIRE(io::remove_recursively(place / "new").ok());
  CHECK_FALSE(*place.fs().exists(place / "new/2"));
  CHECK(*io::read_file(place / "dd/4") == "dd/4");
  REQUIRE(place.fs().remove_file(place / "moved").ok());
  CHECK(place.fs().remove_file(place / "moved").code() == absl::StatusCode::kNotFound);
}

TEST_CASE("records on a store come back under every compression", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  for (const auto compression : {io::Compression::None, io::Compression::Gzip}) {
    const std::string path = place / ("records" + std::to_string(int(compression)));
    auto writer = value_or_throw(io::RecordWriter::create(path, compression));
    for (int i = 0; i < 5000; ++i)
      throw_if_error(writer.write("record " + std::to_string(i) + std::string(300, 'x')));
    throw_if_error(writer.close());
    auto reader = value_or_throw(io::RecordReader::open(path, compression));
    std::string record;
    int count = 0;
    for (; value_or_throw(reader.next(record)); ++count)
      REQUIRE(record == "record " + std::to_string(count) + std::string(300, 'x'));
    CHECK(count == 5000);
  }
}

TEST_CASE("what is not on a store is not found, and the error says where", "[io][object_store]") {
  NEEDS_STORE();
  const Place place;
  const auto status = io::read_file(place / "none").status();
  CHECK(status.code() == absl::StatusCode::kNotFound);
  CHECK(std::string(status.message()).find(place / "none") != std::string::npos);
  const std::string url = store_url() + "-that-is-missing/k";
  CHECK(io::read_file(url).status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(io::write_file_atomically(url, "x").ok());
}

TEST_CASE("a server that checks signatures refuses a wrong key", "[io][object_store]") {
  NEEDS_STORE();
  if (Environment().text("DISTRIBUTE_OBJECT_STORE_CHECKS_KEYS").empty())
    SKIP("this server does not check signatures");
  FakeEnvironment environment{{"AWS_ACCESS_KEY_ID", Environment().text("AWS_ACCESS_KEY_ID")},
                              {"AWS_SECRET_ACCESS_KEY", "wrong"},
                              {"S3_ENDPOINT", Environment().text("S3_ENDPOINT")}};
  io::S3FileSystem fs(
      value_or_throw(io::s3_options_from_environment({.environment = environment.reader()})));
  const auto status = fs.list_directory(store_url()).status();
  CHECK(status.code() == absl::StatusCode::kPermissionDenied);
  const std::string message(status.message());
  CHECK(message.find("SignatureDoesNotMatch") != std::string::npos);
  CHECK(
      message.find("check the access key and the secret key, which came from AWS_ACCESS_KEY_ID") !=
      std::string::npos);
  CHECK(message.find("request id tx") != std::string::npos);
}

TEST_CASE("a token service gives credentials for a web identity", "[io][object_store]") {
  NEEDS_STORE();
  const std::string sts = Environment().text("AWS_ENDPOINT_URL_STS");
  if (sts.empty()) SKIP("this server has no token service");
  const TemporaryDirectory home;
  std::ofstream(home / "token") << "any token";
  FakeEnvironment environment{{"AWS_ENDPOINT_URL_STS", sts},
                              {"AWS_REGION", "us-east-1"},
                              {"AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/trainer"},
                              {"AWS_WEB_IDENTITY_TOKEN_FILE", home / "token"}};
  const auto found = io::find_aws_credentials({.environment = environment.reader()});
  REQUIRE(found.ok());
  CHECK_FALSE(found->anonymous());
  CHECK(found->session_token.size() > 10);
  CHECK(found->expiration > 0);
}
