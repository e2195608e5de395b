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
  CHECK(check("--mesh " + kDeploy)->status == 0);
}

TEST_CASE("side-cars of a mesh and images without their GPU are found",
          "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  const TemporaryDirectory directory;
  std::ofstream(directory / "a.yaml")
      << changed("mpijob.yaml", "annotations: {sidecar.istio.io/inject: \"false\"}", "labels: {}");
  CHECK(check(directory.path())->status == 0);
  CHECK_THAT(check("--mesh " + directory.path())->out,
             Contains("Launcher.template: needs the annotation sidecar.istio.io/inject"));
  Problems problems;
  problems.found(
      changed("tfjob-gpu.yaml", ", nvidia.com/gpu: \"1\"", ""),
      "image distribute/mnist_cnn:cuda has no GPU: give resources.limits nvidia.com/gpu");
  problems.found(changed("tfjob.yaml", "requests: {cpu: \"2\"", "requests: {nvidia.com/gpu: \"1\""),
                 "GPUs count under resources.limits");
  problems.check_all();
}

TEST_CASE("the operator takes names of replicas in any case", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  const TemporaryDirectory directory;
  for (const char* name : {"Ps", "ps", "pS"})
    std::ofstream(directory / (std::string(name) + ".yaml"))
        << changed("tfjob-ps.yaml", "    PS:", "    " + std::string(name) + ":");
  std::ofstream(directory / "master.yaml")
      << changed("pytorchjob.yaml", "    Master:", "    master:");
  const auto result = check(directory.path());
  INFO(result->out);
  CHECK(result->status == 0);
  Problems problems;
  problems.found(changed("tfjob-ps.yaml", "    Evaluator:\n      replicas: 1",
                         "    evaluator:\n      replicas: 2"),
                 "spec.tfReplicaSpecs.evaluator: there must be exactly one");
  problems.check_all();
}

namespace {

/// `oc process -f FILE --param NAME=VALUE...`: a List in JSON; status 1 where a value is missing.
const char* const kOc = R"(#!/usr/bin/env python3
import json, re, sys, yaml
words, given, file = sys.argv[2:], {}, None
while words:
    word = words.pop(0)
    if word == "-f": file = words.pop(0)
    elif word in ("-p", "--param"): name, _, given[name] = words.pop(0).partition("=")
    elif word.startswith("--param="): name, _, given[name] = word[8:].partition("=")
    else: sys.exit("unknown " + word)
template = yaml.safe_load(open(file))
values = {}
for one in template["parameters"]:
    values[one["name"]] = given.pop(one["name"], one.get("value", "f" * 64 if "generate" in one else ""))
    if one.get("required") and not values[one["name"]]: sys.exit("parameter " + one["name"] + " is required")
if given: sys.exit("unknown parameters " + " ".join(given))
def fill(thing):
    if isinstance(thing, dict): return {fill(key): fill(value) for key, value in thing.items()}
    if isinstance(thing, list): return [fill(value) for value in thing]
    if not isinstance(thing, str): return thing
    plain = re.fullmatch(r"\$\{\{(\w+)\}\}", thing)
    if plain: return json.loads(values[plain[1]])
    return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], thing)
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": fill(template["objects"])}))
)";

}  // namespace

TEST_CASE("the lines of the page make jobs of OpenShift's templates", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  const TemporaryDirectory directory;
  std::ofstream(directory / "oc") << kOc;  // python3 DIRECTORY/oc process ...
  const std::string page = file_text(distribute::testing::source_dir() + "/docs/kubernetes.md");
  int lines = 0;
  for (size_t at = page.find("\noc process "); at != std::string::npos;
       at = page.find("\noc process ", at + 1)) {
    const std::string line = page.substr(at + 1, page.find(" | oc ", at) - at - 1);
    const std::string job = directory / ("job" + std::to_string(++lines) + ".yaml");
    const auto run = run_line("sh -c 'cd " + distribute::testing::source_dir() + " && python3 " +
                              (directory / line) + " > " + job + "'");
    INFO(line << run.err);
    CHECK(run.status == 0);
  }
  CHECK(lines == 2);
  const auto result = check("--mesh " + directory.path());
  INFO(result->out);
  CHECK(result->status == 0);
  const std::string job = file_text(directory / "job2.yaml");
  CHECK_THAT(job, Contains("\"Ps\": {\"replicas\": 1") &&
                      Contains("\"Worker\": {\"replicas\": 2") &&
                      Contains("--job-dir=s3://bucket/mnist"));
}

TEST_CASE("a manifest without a token is found, and the cure named", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  const std::string cure =
      "has no job token, so its tasks will refuse to start: add "
      "DISTRIBUTE_JOB_TOKEN from a Secret";
  for (const char* name : {"tfjob.yaml", "pytorchjob.yaml", "mpijob.yaml", "trainjob.yaml",
                           "job-headless-service.yaml", "data-service.yaml"})
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

TEST_CASE("a workload whose selector does not find its pods is found", "[tools][check_manifests]") {
  SKIP_WITHOUT_PYTHON();
  Problems problems;
  problems.found(changed("data-service.yaml", "labels: {app: pictures, role: worker}",
                         "labels: {app: pictures, role: workers}"),
                 "spec.selector: its pods have no label role: worker");
  problems.found(changed("data-service.yaml", "serviceName: pictures", "service: pictures"),
                 "'service' was unexpected");
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
