#include <distribute/object_stores/detail/webhdfs_client.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

TEST_CASE("clusters, user and token come from the environment", "[io][webhdfs]") {
  const FakeEnvironment environment(
      {{"DISTRIBUTE_WEBHDFS", "prod=http://nn1:9870,https://nn2:9871/;*=http://any:14000"},
       {"DISTRIBUTE_WEBHDFS_DELEGATION", "token"},
       {"HADOOP_USER_NAME", "hdfs"},
       {"USER", "me"}});
  const auto options = io::webhdfs_options_from_environment(environment.reader());
  REQUIRE(options.ok());
  CHECK(options->clusters.at("prod") == Names{"http://nn1:9870", "https://nn2:9871"});
  CHECK(options->delegation == "token");
  CHECK(options->user == "hdfs");
  CHECK(io::parse_webhdfs_path("hdfs://prod/a", *options)->servers.size() == 2);
  CHECK(io::parse_webhdfs_path("hdfs://other/a", *options)->servers == Names{"http://any:14000"});
  CHECK(io::parse_webhdfs_path("hdfs:///a", *options)->servers == Names{"http://any:14000"});
}

TEST_CASE("settings that make no sense are named", "[io][webhdfs]") {
  for (const char* text : {"prod", "prod=", "=http://h:1", "prod=nn1:9870", "prod=http://h:none"}) {
    CAPTURE(text);
    const FakeEnvironment environment({{"DISTRIBUTE_WEBHDFS", text}});
    const absl::Status status = io::webhdfs_options_from_environment(environment.reader()).status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Contains("DISTRIBUTE_WEBHDFS") && Contains(text));
  }
}

TEST_CASE("a setting that makes no sense is shown in part, and without control characters",
          "[io][webhdfs]") {
  for (const std::string text : {std::string(20'000, 'x'), std::string("\x1b[31m\x07")}) {
    const FakeEnvironment environment({{"DISTRIBUTE_WEBHDFS", text}});
    const absl::Status status = io::webhdfs_options_from_environment(environment.reader()).status();
    CHECK_THAT(std::string(status.message()), !Contains(text) && !Contains("\x1b"));
    CHECK(status.message().size() < 400);
  }
}

TEST_CASE("a cluster without an entry is its own server", "[io][webhdfs]") {
  const auto parse = [](const std::string& path) {
    return io::parse_webhdfs_path(path, io::WebHdfsOptions());
  };
  CHECK(parse("hdfs://nn:8020/a/b/")->servers == Names{"http://nn:9870"});
  CHECK(parse("hdfs://nn:8020/a/b/")->path == "/a/b");
  CHECK(parse("hdfs://nn")->path == "/");
  CHECK(parse("webhdfs://nn:50070/a")->servers == Names{"http://nn:50070"});
  CHECK(parse("webhdfs://nn/a")->servers == Names{"http://nn:9870"});
  CHECK(parse("swebhdfs://nn/a")->servers == Names{"https://nn:9871"});
  CHECK(parse("hdfs:///a").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(parse("hdfs:///a").status().message()), Contains("DISTRIBUTE_WEBHDFS"));
}
