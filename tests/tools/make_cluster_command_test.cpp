#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace {

ProgramResult make(const std::vector<std::string>& arguments, const std::string& environment = "") {
  std::vector<std::string> words{"cluster", "make"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program("distribute", words, "env -u SLURM_JOB_NODELIST " + environment);
}

void check_refused(const std::vector<std::string>& arguments, const std::string& text) {
  const ProgramResult result = make(arguments);
  INFO(result.err);
  CHECK(result.status == 2);
  CHECK(result.out == "");
  CHECK_THAT(result.err, Contains("distribute cluster make: ") && Contains(text));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("cluster make prints what each host has to export", "[tools][make_cluster_command]") {
  const ProgramResult result =
      make({"--chief", "a", "--worker=b,c", "--ps", "d,a", "--port", "3000"});
  CHECK(result.err == "");
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("# a: chief 0\nexport TF_CONFIG='{") && Contains("# a: ps 1\n") &&
                             Contains("# c: worker 1\n"));
  // Each line is for a shell; what it exports is what `distribute cluster` reads.
  std::istringstream lines(result.out);
  std::string line, exported;
  while (std::getline(lines, line))
    if (line.find(R"("type":"worker","index":1)") != std::string::npos) exported = line.substr(7);
  const Json role = Json::parse(run_program("distribute", {"cluster", "--json"}, exported).out);
  CHECK(role["cluster"] == Json::parse(R"({"chief": ["a:3000"], "worker": ["b:3000", "c:3000"],
                                           "ps": ["d:3000", "a:3001"]})"));
  CHECK(role["task_type"] == "worker");
  CHECK(role["id_in_cluster"] == 2);
}

TEST_CASE("cluster make takes hosts from Slurm, EMR and files", "[tools][make_cluster_command]") {
  const Json slurm =
      Json::parse(make({"--slurm", "--servers", "1", "--json"}, "SLURM_JOB_NODELIST=n[1-3]").out);
  REQUIRE(slurm.size() == 3);
  CHECK(slurm[0]["host"] == "n1");
  CHECK(slurm[0]["type"] == "ps");
  CHECK(slurm[2]["tf_config"]["cluster"]["worker"] == Json::parse(R"(["n2:2222", "n3:2222"])"));

  const TemporaryDirectory directory;
  const std::string emr = directory / "instances.json", hosts = directory / "hosts";
  std::ofstream(emr) << R"({"Instances": [
      {"PrivateDnsName": "ip-1", "Status": {"State": "RUNNING"}},
      {"PrivateDnsName": "ip-2", "Status": {"State": "RUNNING"}}]})";
  CHECK_THAT(make({"--emr", emr, "--chiefs", "1"}).out,
             Contains("# ip-1: chief 0") && Contains("# ip-2: worker 0"));
  std::ofstream(hosts) << "one  # the first\n\n# none\ntwo:77\n";
  CHECK_THAT(make({"--hostfile", hosts, "--evaluators=1"}).out,
             Contains(R"({"cluster":{"worker":["one:2222"]})") && Contains("# two: evaluator 0"));
}

TEST_CASE("cluster make writes a script that sh accepts", "[tools][make_cluster_command]") {
  const TemporaryDirectory directory;
  const std::string script = directory / "boot.sh";
  REQUIRE(make({"--worker", "a,b", "--boot-script", script}).status == 0);
  CHECK(std::system(("sh -n " + script).c_str()) == 0);
  CHECK(std::system(("DISTRIBUTE_JOB_TOKEN=t " + script + " --host b true").c_str()) == 0);
  const ProgramResult nowhere = make({"--worker", "a,b", "--boot-script", "/nowhere/boot.sh"});
  CHECK(nowhere.status == 1);
  CHECK(nowhere.out == "");
  CHECK_THAT(nowhere.err, Contains("cannot write /nowhere/boot.sh"));
}

TEST_CASE("cluster make refuses hosts that make no cluster", "[tools][make_cluster_command]") {
  check_refused({}, "needs a chief or a worker");
  check_refused({"--worker", "a,a"}, "'a' is named twice");
  check_refused({"--worker", "a:1", "--ps", "a:1"}, "worker 0 and ps 0 have the same address");
  check_refused({"--worker", "a", "--port", "0"},
                "--port must be at least 1 and at most 65535, not 0");
  check_refused({"--worker", "a", "--port", "x"}, "--port: bad value 'x'");
  check_refused({"--worker"}, "needs a value");
  check_refused({"--workers", "a"}, "unknown flag --workers; did you mean --worker?");
  check_refused({"a"}, "unexpected argument 'a'");
  check_refused({"--slurm"}, "SLURM_JOB_NODELIST is not set");
  check_refused({"--emr", "/nowhere"}, "cannot read /nowhere");
  check_refused({"--worker", "a", "--servers", "1"}, "not both");
  CHECK(make({"--help"}).status == 0);
}

TEST_CASE("cluster says whether tasks would let each other in", "[tools][make_cluster_command]") {
  const std::string config =
      "env -u DISTRIBUTE_JOB_TOKEN -u DISTRIBUTE_JOB_TOKEN_FILE TF_CONFIG='" +
      std::string(R"({"cluster":{"worker":["a:1","b:1"]},)") +
      R"("task":{"type":"worker","index":0}}' )";
  CHECK_THAT(run_program("distribute", {"cluster"}, config).out,
             Contains("job token    MISSING") && Contains("in Kubernetes from a Secret"));
  const ProgramResult given =
      run_program("distribute", {"cluster"}, config + "DISTRIBUTE_JOB_TOKEN=secret-of-the-job");
  CHECK_THAT(given.out, Contains("job token    17 bytes"));
  CHECK_THAT(given.out, !Contains("secret"));
}

TEST_CASE("cluster --ready is a probe", "[tools][make_cluster_command]") {
  const ProgramResult unset =
      run_program("distribute", {"cluster", "--ready"}, "env -u DISTRIBUTE_READY_FILE");
  CHECK(unset.status == 1);
  CHECK_THAT(unset.err, Contains("DISTRIBUTE_READY_FILE is not set"));
  const ProgramResult early =
      run_program("distribute", {"cluster", "--ready"}, "DISTRIBUTE_READY_FILE=/nowhere");
  CHECK(early.status == 1);
  CHECK_THAT(early.err, Contains("not ready: there is no /nowhere"));
}
