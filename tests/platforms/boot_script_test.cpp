#include <distribute/platforms/make_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

/// The script on a host, with a token unless `environment` says otherwise.
ProgramResult boot(const std::string& arguments,
                   const std::string& environment = "DISTRIBUTE_JOB_TOKEN=t",
                   const ClusterSpec& cluster = make_cluster(
                       {.chief = {"host-a"}, .worker = {"host-b", "host-c"}, .ps = {"host-b"}})) {
  const TemporaryDirectory directory;
  const std::string script = directory / "boot.sh";
  std::ofstream(script) << boot_script(cluster);
  return run_line("env -u DISTRIBUTE_JOB_TOKEN -u DISTRIBUTE_JOB_TOKEN_FILE " + environment +
                  " sh " + script + " " + arguments);
}

}  // namespace

TEST_CASE("the boot script starts the task of its host", "[cluster][boot_script]") {
  const ProgramResult result = boot("--host host-c sh -c 'echo \"$TF_CONFIG\"; exit 7'");
  CHECK(result.status == 7);
  const Json config = Json::parse(result.out);
  CHECK(config["task"] == Json::parse(R"({"type": "worker", "index": 1})"));
  CHECK(config["cluster"]["worker"] == Json::parse(R"(["host-b:2222", "host-c:2222"])"));
}

TEST_CASE("the boot script starts all tasks of its host, and fails with the first that fails",
          "[cluster][boot_script]") {
  const ProgramResult result = boot(
      "--host host-b sh -c 'echo \"$TF_CONFIG\"; case $TF_CONFIG in *ps\\\",\\\"index*) "
      "exit 3;; esac'");
  CHECK(result.status == 3);
  CHECK_THAT(result.out, Contains(R"("task":{"type":"ps","index":0})") &&
                             Contains(R"("task":{"type":"worker","index":0})"));
}

TEST_CASE("the boot script finds its host by name and address", "[cluster][boot_script]") {
  char name[256] = {};
  REQUIRE(::gethostname(name, sizeof(name) - 1) == 0);
  const ProgramResult result = boot("sh -c 'echo \"$TF_CONFIG\"'", "DISTRIBUTE_JOB_TOKEN=t",
                                    make_cluster({.worker = {"elsewhere", name}}));
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains(R"("index":1)"));
}

TEST_CASE("the boot script refuses what cannot work", "[cluster][boot_script]") {
  CHECK(boot("").status == 2);
  const ProgramResult stranger = boot("--host elsewhere true");
  CHECK(stranger.status == 2);
  CHECK_THAT(stranger.err, Contains("is not one of the cluster's"));
  const ProgramResult open = boot("--host host-c true", "");
  CHECK(open.status == 2);
  CHECK_THAT(open.err, Contains("no job token") && Contains("DISTRIBUTE_JOB_TOKEN_FILE"));
  CHECK(boot("--host host-c true", "DISTRIBUTE_INSECURE=1").status == 0);
}
