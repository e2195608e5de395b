#include <distribute/http/credentials.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

TEST_CASE("sections, comments and nested keys of AWS files are read", "[io][aws_profile]") {
  const auto profiles = io::parse_aws_profiles(
      "# comment\n; another\n[default]\nregion = eu-west-1 # here\naws_secret_access_key=a=b#c\n\n"
      "[profile work]\r\ns3 =\r\n    addressing_style = path\r\nregion=us-west-2\r\n",
      "file");
  REQUIRE(profiles.ok());
  CHECK(profiles->at("default").at("region") == "eu-west-1");
  CHECK(profiles->at("default").at("aws_secret_access_key") == "a=b#c");
  CHECK(profiles->at("work").at("s3.addressing_style") == "path");
  CHECK(profiles->at("work").at("region") == "us-west-2");
}

TEST_CASE("a damaged AWS file is an error that does not show its text", "[io][aws_profile]") {
  for (const std::string text :
       {"aws_secret = hidden", "[default]\nhidden", "[default\nkey = hidden"}) {
    const auto status = io::parse_aws_profiles(text, "/home/me/credentials").status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    const std::string message(status.message());
    CHECK(message.find("/home/me/credentials: line ") != std::string::npos);
    CHECK(message.find("hidden") == std::string::npos);
  }
}

TEST_CASE("the credentials file wins over the config file", "[io][aws_profile]") {
  const TemporaryDirectory home;
  std::ofstream(home / "credentials") << "[default]\naws_access_key_id = A\n[two]\nregion = here\n";
  std::ofstream(home / "config") << "[default]\nregion = r1\naws_access_key_id = B\n"
                                    "[profile two]\nregion = there\noutput = json\n";
  FakeEnvironment environment{{"AWS_SHARED_CREDENTIALS_FILE", home / "credentials"},
                              {"AWS_CONFIG_FILE", home / "config"}};
  const auto first = io::load_aws_profile(environment.reader());
  REQUIRE(first.ok());
  CHECK(first->at("aws_access_key_id") == "A");
  CHECK(first->at("region") == "r1");
  environment["AWS_PROFILE"] = "two";
  const auto second = io::load_aws_profile(environment.reader());
  REQUIRE(second.ok());
  CHECK(second->at("region") == "here");
  CHECK(second->at("output") == "json");
  CHECK(io::load_aws_profile(environment.reader(), "default")->at("region") == "r1");
  environment["AWS_PROFILE"] = "three";
  const auto third = io::load_aws_profile(environment.reader()).status();
  CHECK(third.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(third.message()).find("'three' (AWS_PROFILE)") != std::string::npos);
}

TEST_CASE("without AWS files every profile is empty", "[io][aws_profile]") {
  const TemporaryDirectory home;
  FakeEnvironment environment{{"HOME", home.path()}};
  CHECK(io::load_aws_profile(environment.reader())->empty());
  CHECK(io::load_aws_profile(FakeEnvironment{}.reader())->empty());
}
