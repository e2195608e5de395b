#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>

namespace {

const std::string kDeploy = distribute::testing::source_dir() + "/examples/deploy/";

/// tools/check_manifests.py; nothing where Python or its packages are missing.
std::optional<ProgramResult> check(const std::string& path) {
  const ProgramResult result = run_line("python3 " + distribute::testing::source_dir() +
                                        "/tools/check_manifests.py " + path);
  if (result.status == 77 || result.status == 127) return std::nullopt;
  return result;
}

/// A manifest of examples/deploy with one text replaced.
std::string changed(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = file_text(kDeploy + "kubernetes/" + name);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Manifests with the problem that has to be found in each; one start of Python for all.
struct Problems {
  std::vector<std::pair<std::string, std::string>> cases;
  void found(const std::string& manifest, const std::string& problem) {
    cases.emplace_back(manifest, problem);
  }
  void check_all() const {
    const TemporaryDirectory directory;
    const auto path = [&](size_t i) { return directory / (std::to_string(100 + i) + ".yaml"); };
    for (size_t i = 0; i < cases.size(); ++i) std::ofstream(path(i)) << cases[i].first;
    const auto result = check(directory.path());
    REQUIRE(result);
    CHECK(result->status == 1);
    for (size_t i = 0; i < cases.size(); ++i) {
      std::istringstream lines(result->out);
      std::string line, mine;
      while (std::getline(lines, line))
        if (line.rfind(path(i) + ":", 0) == 0) mine += line + "\n";
      CHECK_THAT(mine, Contains(cases[i].second));
    }
  }
};

}  // namespace

#define SKIP_WITHOUT_PYTHON() \
  if (!check("")) SKIP("python3-yaml or python3-jsonschema is missing")

TEST_CASE("the manifests satisfy the operators' schemas", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  const auto result = check(kDeploy);
  INFO(result->out << result->err);
  CHECK(result->status == 0);
  CHECK_THAT(result->out, Contains("files are good"));
}

TEST_CASE("a manifest without a token is found, and the cure named", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  const std::string cure =
      "has no job token, so its tasks will refuse to start: add "
      "DISTRIBUTE_JOB_TOKEN from a Secret";
  for (const char* name : {"tfjob.yaml", "pytorchjob.yaml", "mpijob.yaml", "trainjob.yaml",
                           "job-headless-service.yaml"})
    problems.found(changed(name, "name: DISTRIBUTE_JOB_TOKEN", "name: OTHER"), cure);
  problems.found(
      changed("tfjob.yaml", "valueFrom: {secretKeyRef: {name: distribute-job-token, key: token}}",
              "value: 1234"),
      "stands in the manifest, where all its readers see it");
  problems.check_all();
}

TEST_CASE("what the operators' own examples leave out is not demanded",
          "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  const std::string policy = "  runPolicy:\n    cleanPodPolicy: Running\n    backoffLimit: 10\n";
  const TemporaryDirectory directory;
  std::ofstream(directory / "pytorchjob.yaml") << changed("pytorchjob.yaml", policy, "");
  std::ofstream(directory / "mpijob.yaml")
      << changed("mpijob.yaml", "              command: [/usr/sbin/sshd, -De]\n", "");
  const auto result = check(directory.path());
  INFO(result->out);
  CHECK(result->status == 0);
  const auto help = check("--help");
  CHECK(help->status == 0);
  CHECK_THAT(help->out, Contains("Usage: check_manifests.py"));
}

TEST_CASE("a PyTorchJob whose tasks cannot find each other is found", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  problems.found(changed("pytorchjob.yaml", "    Master:", "    Boss:"), "there is no Master");
  const std::string spec = "spec:\n  runPolicy:";
  problems.found(changed("pytorchjob.yaml", spec, "spec:\n  nprocPerNode: \"4\"\n  runPolicy:"),
                 "nprocPerNode: is 4, so WORLD_SIZE counts 4 processes");
  problems.found(changed("pytorchjob.yaml", spec,
                         "spec:\n  elasticPolicy: {minReplicas: 1, maxReplicas: 3}\n  runPolicy:"),
                 "elasticPolicy: is for torchrun");
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"})
    problems.found(changed("pytorchjob.yaml", "              env:\n",
                           "              env:\n                - {name: " + std::string(name) +
                               ", value: localhost}\n"),
                   "container 'pytorch': sets " + std::string(name) + ", which is the operator's");
  problems.check_all();
}

TEST_CASE("what the schemas forbid is found", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  problems.found(changed("tfjob.yaml", "tfReplicaSpecs:", "tfReplicaSpec:"), "tfReplicaSpec");
  problems.found(changed("tfjob.yaml", "replicas: 2", "replicas: two"), "is not of type 'integer'");
  problems.found(changed("tfjob.yaml", "image:", "imagee:"), "imagee");
  problems.found(changed("mpijob.yaml", "slotsPerWorker: 1", "slotsPerWorkers: 1"),
                 "slotsPerWorkers");
  problems.found(changed("mpijob.yaml", "WaitForWorkersReady", "WhenReady"), "WhenReady");
  problems.found(changed("trainjob.yaml", "numNodes: 3", "nodes: 3"), "nodes");
  problems.found(changed("job-headless-service.yaml", "backoffLimit: 10", "backoffLimits: 10"),
                 "backoffLimits");
  problems.found(changed("tfjob.yaml", "env:", "env: {DISTRIBUTE_JOB_TOKEN: a}\n              x:"),
                 "is not of type 'array'");
  problems.found(changed("tfjob.yaml", "metadata:", "metadata: mnist\nmeta:"),
                 "'mnist' is not of type 'object'");
  problems.found("apiVersion: v1\nkind: Service\n---\napiVersion: batch/v1\nkind: Job\n",
                 "must be Indexed");
  problems.found("a: [", "not YAML");
  problems.found("a: 1\na: 2\n", "key 'a' occurs twice");
  problems.found("apiVersion: v9\nkind: TFJob\n", "no schema for v9 TFJob");
  problems.check_all();
}

TEST_CASE("what the operators demand beyond their schemas is found", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  problems.found(changed("tfjob.yaml", "name: tensorflow", "name: trainer"),
                 "no container is named 'tensorflow'");
  problems.found(changed("tfjob.yaml", "Worker:", "Workers:"), "no replica type of TFJob");
  problems.found(changed("tfjob.yaml", "restartPolicy: ExitCode", "restartPolicy: Sometimes"),
                 "restartPolicy must be one of");
  problems.found(changed("tfjob.yaml", "              resources:",
                         "              readinessProbe: {exec: {command: [x]}}\n"
                         "              resources:"),
                 "a probe that waits for the other tasks never ends");
  const std::string job = "job-headless-service.yaml";
  problems.found(changed(job, "publishNotReadyAddresses: true", "publishNotReadyAddresses: false"),
                 "needs publishNotReadyAddresses: true");
  problems.found(changed(job, "completions: 3", "completions: 4"),
                 "DISTRIBUTE_REPLICAS is 3, spec.completions is 4");
  problems.found(changed(job, "subdomain: mnist", "subdomain: other"),
                 "no headless service 'other'");
  problems.check_all();
}
