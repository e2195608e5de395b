/// The environments of clouds, batch systems and Kubernetes, played by variables, files and names.

#include "mnist_cluster.hpp"
#include "shell.hpp"

#include <distribute/http/http_client.hpp>

#include <tests/support/http_server.hpp>

#include <filesystem>
#include <regex>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const Words kTiny{"--model=tutorial", "--batch_size=6", "--seed=1"};

ProgramResult train(const Words& flags, const std::string& environment = "") {
  return run_program("mnist_cnn", kTiny + flags, "OMP_NUM_THREADS=1 " + environment);
}

/// /opt/ml of a training job of SageMaker.
struct OptMl {
  TemporaryDirectory root;
  OptMl() {
    for (const char* name : {"input/config", "model", "output/data", "checkpoints"})
      fs::create_directories(root / name);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root / ("input/config/" + name)) << text;
  }
  std::string environment() const {
    return "TRAINING_JOB_NAME=j TRAINING_JOB_ARN=arn:j SAGEMAKER_BASE_DIR=" + root.path() + " ";
  }
  std::string failure() const { return file_text(root / "output/failure"); }
};

/// A folder whose training images are the bundled 1,000 test images: an epoch is ten steps of 100.
struct FewDigits {
  TemporaryDirectory folder;
  FewDigits() {
    const std::string bundled = distribute::testing::source_dir() + "/examples/mnist_cnn/data/";
    for (const std::string kind : {"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz"})
      for (const char* split : {"train", "t10k"})
        fs::copy_file(bundled + "t10k" + kind, folder / (split + kind));
  }
  std::string path() const { return folder.path(); }
};

/// The tasks' cluster as `script` makes it of TF_CONFIG.
ProcessClusterOptions translated(int workers, const std::string& script, const Words& flags) {
  ProcessClusterOptions options = cluster_options(workers, kTiny + flags);
  options.command.at(2) = script + "; exec \"$0\" \"$@\"";
  return options;
}

void check_all_done(const std::vector<TaskOutcome>& outcomes) {
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes) CHECK(outcome.status.code == 0);
}

}  // namespace

TEST_CASE("SageMaker starts the container with 'train', files and folders",
          "[examples][mnist_cnn][sagemaker]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const OptMl ml;
  ml.write("resourceconfig.json", R"({"current_host": "algo-1", "hosts": ["algo-1"]})");
  ml.write("hyperparameters.json", R"({"steps": "\"3\"", "learning-rate": "0.01"})");
  const ProgramResult run =
      run_program("mnist_cnn", Words{"train"} + kTiny, "OMP_NUM_THREADS=1 " + ml.environment());
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(fs::exists(ml.root / "model/weights.index"));
  CHECK(fs::exists(ml.root / "checkpoints/checkpoint"));
  CHECK_FALSE(fs::is_empty(ml.root / "output/data/logs"));
  CHECK(ml.failure() == "");
  // A spot instance that comes back goes on from the checkpoint; a flag wins over the files.
  const ProgramResult again = run_program("mnist_cnn", Words{"train", "--steps=5"} + kTiny,
                                          "OMP_NUM_THREADS=1 " + ml.environment());
  CHECK_THAT(again.out, Contains("at step 3"));
}

TEST_CASE("SageMaker shows why a job has failed", "[examples][mnist_cnn][sagemaker]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const OptMl ml;
  ml.write("resourceconfig.json", R"({"current_host": "algo-1", "hosts": ["algo-1"]})");
  ml.write("hyperparameters.json", R"({"epoch": "3"})");
  const ProgramResult usage = train({}, ml.environment());
  CHECK(usage.status == 2);
  CHECK(ml.failure() == "hyperparameter 'epoch': there is no flag --epoch\n");
  ml.write("hyperparameters.json", R"({"batch_size": "1000000"})");
  const ProgramResult data = run_program("mnist_cnn", {}, ml.environment());
  CHECK(data.status == 2);
  CHECK_THAT(ml.failure(), Contains("--batch_size=1000000 is larger than the training data"));
  ml.write("hyperparameters.json", "{");
  CHECK(train({}, ml.environment()).status == 2);
}

TEST_CASE("three hosts of SageMaker train together without its toolkit",
          "[examples][mnist_cnn][sagemaker][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!has_namespaces("--mount")) SKIP("no right to make mount namespaces");
  const ProgramResult run = shell(
      "for i in 1 2 3; do echo \"127.0.0.$((i + 1)) algo-$i\" >> hosts\n"
      "mkdir -p ml-$i/input/config ml-$i/model ml-$i/output\n"
      "echo \"{\\\"current_host\\\": \\\"algo-$i\\\", \\\"hosts\\\": [\\\"algo-1\\\", "
      "\\\"algo-2\\\", "
      "\\\"algo-3\\\"]}\" > ml-$i/input/config/resourceconfig.json\ndone\n"
      "host() { TRAINING_JOB_NAME=j TRAINING_JOB_ARN=a SAGEMAKER_BASE_DIR=$PWD/ml-$1 "
      "exec unshare --mount sh -c 'mount --bind hosts /etc/hosts && exec mnist_cnn train "
      "--model=tutorial --batch_size=6 --steps=3' > out-$1 2>&1; }\n"
      "for i in 1 2 3; do host $i & pids=\"$pids $!\"; done\n"
      "for pid in $pids; do wait $pid; echo ended $?; done\n"
      "cat out-1 out-2 out-3; ls ml-1/model ml-2/model\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("ended 0\nended 0\nended 0\n") && Contains("test loss ") &&
                          Contains("weights.index"));
}

namespace {

/// Shell: two hosts of SageMaker with the hyperparameters of the SDK's mpi distribution, as
/// sagemaker 2.257 sends them; `on_hosts COMMAND` runs on both, with output in out-1 and out-2.
const std::string kTwoHosts = R"(
for i in 1 2; do
  echo "127.0.6.$i algo-$i" >> hosts
  mkdir -p ml-$i/input/config ml-$i/model ml-$i/output
  echo "{\"current_host\": \"algo-$i\", \"hosts\": [\"algo-1\", \"algo-2\"]}" > ml-$i/input/config/resourceconfig.json
  echo '{"steps": "3", "batch-size": "8", "model": "\"tutorial\"", "sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2", "sagemaker_mpi_custom_mpi_options": "\"-verbose -x MY_OPTION=7\""}' > ml-$i/input/config/hyperparameters.json
done
on_hosts() {
  command=$1 pids=
  for i in 1 2; do
    TRAINING_JOB_NAME=j TRAINING_JOB_ARN=a SAGEMAKER_BASE_DIR=$PWD/ml-$i DISTRIBUTE_JOB_TOKEN=secret-of-these-tests \
      unshare --mount sh -c "mount --bind hosts /etc/hosts && exec $command" > out-$i 2>&1 &
    pids="$pids $!"
  done
  for pid in $pids; do wait $pid; echo ended $?; done
  cat out-1 out-2
}
)";

}  // namespace

TEST_CASE("processes_per_host of SageMaker's SDK starts as many workers on each host",
          "[examples][mnist_cnn][sagemaker][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_PROGRAM("distribute");
  if (!has_namespaces("--mount")) SKIP("no right to make mount namespaces");
  const ProgramResult run =
      shell(kTwoHosts + "on_hosts 'distribute run --sagemaker -- mnist_cnn train --json'\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("ended 0\nended 0\n") && Contains("\"replicas\": 4") &&
                          Contains("only mpirun knows these of custom_mpi_options: -verbose"));
  CHECK_THAT(shell(kTwoHosts + "on_hosts 'distribute run --sagemaker -- printenv MY_OPTION'\n").out,
             Contains("[worker 3] 7"));
  // Started without the launcher, a program would be half of the job.
  const ProgramResult alone = shell(kTwoHosts + "on_hosts 'mnist_cnn train'\n");
  INFO(alone.out);
  CHECK_THAT(alone.out, Contains("the job asks for 2 processes on each host") &&
                            Contains("distribute run --sagemaker -- PROGRAM") &&
                            !Contains("ended 0"));
}

TEST_CASE("workers of one's own program on a host of SageMaker save one model",
          "[examples][mnist_cnn][sagemaker][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_job");
  SKIP_WITHOUT_PROGRAM("distribute");
  const OptMl ml;
  ml.write("resourceconfig.json", R"({"current_host": "127.0.5.7", "hosts": ["127.0.5.7"]})");
  const FewDigits digits;
  ml.write("hyperparameters.json",
           R"({"batch-size": "100", "epochs": "1", "sagemaker_mpi_enabled": "true",
               "sagemaker_mpi_num_of_processes_per_host": "2", "data-dir": "\")" +
               digits.path() + R"(\""})");
  const ProgramResult run = run_program(
      "distribute",
      {"run", "--sagemaker", "--", distribute::testing::binary_dir() + "/mnist_cnn_job", "train"},
      "OMP_NUM_THREADS=1 DISTRIBUTE_JOB_TOKEN=secret-of-these-tests " + ml.environment());
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("[worker 0] test accuracy ") && !Contains("[worker 1] "));
  CHECK(fs::exists(ml.root / "model/1/saved_model.pb"));
}

TEST_CASE("a program of one's own takes a service's words and says why it failed",
          "[examples][mnist_cnn][sagemaker][vertex]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_job");
  const OptMl ml;
  ml.write("resourceconfig.json", R"({"current_host": "algo-1", "hosts": ["algo-1"]})");
  const FewDigits digits;
  ml.write("hyperparameters.json",
           R"({"batch-size": "100", "epochs": "1", "data-dir": "\")" + digits.path() + R"(\""})");
  const std::string one = "OMP_NUM_THREADS=1 ";
  const ProgramResult run = run_program("mnist_cnn_job", {"train"}, one + ml.environment());
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("test accuracy "));
  CHECK(fs::exists(ml.root / "model/1/saved_model.pb"));
  CHECK_FALSE(fs::is_empty(ml.root / "output/data/logs"));
  CHECK(ml.failure() == "");
  ml.write("hyperparameters.json", R"({"data-dir": "/nowhere"})");
  const ProgramResult failed = run_program("mnist_cnn_job", {"train"}, one + ml.environment());
  CHECK(failed.status == 1);
  CHECK_THAT(ml.failure(), Contains("/nowhere"));
  CHECK_THAT(failed.err, Contains(ml.failure()));

  const TemporaryDirectory job;
  const std::string trial =
      one + "CLOUD_ML_TRIAL_ID=3 CLOUD_ML_HP_METRIC_FILE=" + (job / "metrics") + " ";
  const ProgramResult vertex =
      run_program("mnist_cnn_job",
                  {"--data_dir=" + digits.path(), "--job-dir=" + (job / "out"),
                   "--batch_size=100.0", "--epochs=1"},
                  trial);
  INFO(vertex.err);
  CHECK(vertex.status == 0);
  CHECK(fs::exists(job / "out/model/1/saved_model.pb"));
  CHECK_FALSE(fs::is_empty(job / "out/logs"));
  CHECK_THAT(file_text(job / "metrics"), Contains("\"accuracy\":"));
}

TEST_CASE("three worker pools of Vertex AI train together",
          "[examples][mnist_cnn][vertex][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory job;
  auto options = translated(3,
                            "export CLUSTER_SPEC=\"$(echo \"$TF_CONFIG\" | "
                            "sed 's/\"worker\"/\"workerpool1\"/g')\"; unset TF_CONFIG",
                            {"--steps=4", "--job-dir=" + (job / "not/there/yet")});
  const auto outcomes = ProcessCluster(options).wait();
  check_all_done(outcomes);
  CHECK(fs::exists(job / "not/there/yet/model/saved_model.pb"));
  CHECK(fs::exists(job / "not/there/yet/checkpoints/checkpoint"));
  CHECK_FALSE(fs::is_empty(job / "not/there/yet/logs"));
}

TEST_CASE("outputs that would spoil each other are refused before the first step",
          "[examples][mnist_cnn][vertex]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory job;
  const std::string model = job / "not/yet/model";
  const ProgramResult spoiled =
      train({"--steps=2", "--export_dir=" + model, "--final_checkpoint=" + model + "/weights"});
  CHECK(spoiled.status == 1);
  CHECK_THAT(spoiled.err, Contains("lies in --export_dir=" + model));
  CHECK_FALSE(fs::exists(job / "not"));
  const ProgramResult good =
      train({"--steps=2", "--export_dir=" + model}, "AIP_MODEL_DIR=" + model + "/");
  INFO(good.err);
  CHECK(good.status == 0);
  CHECK(fs::exists(model + "/saved_model.pb"));
}

TEST_CASE("--json alone leaves standard output to the report", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = train({"--steps=2", "--json"});
  CHECK(run.status == 0);
  CHECK(run.out.starts_with("{"));
  CHECK(run.out.ends_with("}\n"));
  CHECK_THAT(run.err, Contains("test loss"));
}

TEST_CASE("outputs leave devices and links what they are", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory directory;
  const std::string target = directory / "target", link = directory / "link";
  fs::create_symlink(target, link);
  const ProgramResult devices =
      train({"--steps=2", "--export_onnx=/dev/null"}, "DISTRIBUTE_TIMELINE=/dev/null");
  INFO(devices.err);
  CHECK(devices.status == 0);
  CHECK(fs::is_character_file("/dev/null"));
  for (const char* flag : {"--json=", "--export_onnx=", "--loss_csv="}) {
    fs::remove(target);
    CHECK(train({"--steps=2", flag + link}).status == 0);
    CHECK(fs::is_symlink(link));
    CHECK(fs::file_size(target) > 0);
  }
}

TEST_CASE("a program that trains alone writes its timeline, with and without a job's strategy",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory directory;
  const std::string file = directory / "trace.json";
  const Words two{"--steps=2", "--replicas=2"};
  CHECK(train(two, "DISTRIBUTE_TIMELINE=" + file).status == 0);
  CHECK_THAT(file_text(file), Contains("MirroredStrategy.run"));
  fs::remove(file);
  CHECK(train(two + Words{"--strategy=multi_worker"}, "DISTRIBUTE_TIMELINE=" + file).status == 0);
  CHECK_THAT(file_text(file), Contains("strategy.run"));
}

TEST_CASE("tasks of a job that is described in part do not train alone", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  for (const char* environment :
       {"TF_CONFIG='{\"task\": {\"type\": \"ps\", \"index\": 0}}'", "TF_CONFIG='{\"cluster\": {}}'",
        "RANK=1 WORLD_SIZE=2", "SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0",
        "TRAINING_JOB_NAME=j"})
    for (const char* strategy : {"--seed=1", "--strategy=multi_worker", "--api=horovod"}) {
      INFO(environment << " " << strategy);
      const ProgramResult run = train({"--steps=2", strategy}, environment);
      CHECK(run.status == 2);
      CHECK_FALSE(run.err.empty());
      CHECK(run.out == "");
    }
}

TEST_CASE("a trial of Vertex AI reports its accuracy", "[examples][mnist_cnn][vertex]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory directory;
  const std::string file = directory / "output.metrics";
  const ProgramResult run = train({"--steps=2"},
                                  "CLOUD_ML_TRIAL_ID=3 CLOUD_ML_HP_METRIC_TAG=test_accuracy "
                                  "CLOUD_ML_HP_METRIC_FILE=" +
                                      file);
  CHECK(run.status == 0);
  CHECK_THAT(file_text(file), Contains("\"trial\":\"3\"") && Contains("\"global_step\":\"2\""));
}

TEST_CASE("nodes of Kubeflow's torch runtime train together",
          "[examples][mnist_cnn][kubernetes][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  // The first worker's address is the master's; the others have none of their own.
  const std::string script =
      "first=$(echo \"$TF_CONFIG\" | sed 's/.*\"worker\": *\\[ *\"\\([^\"]*\\)\".*/\\1/'); "
      "export PET_NNODES=3 PET_NPROC_PER_NODE=1 PET_NODE_RANK=$DISTRIBUTE_LOCAL_RANK "
      "PET_MASTER_ADDR=${first%:*} PET_MASTER_PORT=${first##*:}; unset TF_CONFIG";
  check_all_done(
      ProcessCluster(translated(3, script, {"--strategy=multi_worker", "--steps=3"})).wait());
}

TEST_CASE("pods of an indexed Job find each other when their names appear, and are ready then",
          "[examples][mnist_cnn][kubernetes][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!has_namespaces("--mount")) SKIP("no right to make mount namespaces");
  // Headless service: names that do not resolve until the pods run. Every pod has its own address
  // and the same port.
  const ProgramResult run = shell(
      kWaitFor +
      "echo '127.0.0.1 localhost' > hosts\n"
      "pod() { HOSTNAME=mnist-$1 JOB_COMPLETION_INDEX=$1 KUBERNETES_SERVICE_HOST=10.0.0.1 "
      "DISTRIBUTE_REPLICAS=3 DISTRIBUTE_JOB_TOKEN=token-of-this-job DISTRIBUTE_READY_FILE=ready-$1 "
      "DISTRIBUTE_REPORT_INTERVAL=0.2 exec unshare --mount sh -c 'mount --bind hosts /etc/hosts && "
      "exec mnist_cnn --strategy=multi_worker --model=tutorial --batch_size=3 --steps=100000000' "
      "> out-$1 2>&1; }\n"
      "for i in 0 1 2; do pod $i & pids=\"$pids $!\"; done\n"
      "wait_for out-0 'waits for its own name'; wait_for out-2 'waits for its own name'\n"
      "DISTRIBUTE_READY_FILE=ready-1 distribute cluster --ready && echo TOO EARLY\n"
      "for i in 0 1 2; do echo \"127.0.0.$((i + 2)) mnist-$i.mnist\" >> hosts; done\n"
      "wait_for out-0 'step 100 '\n"
      "for i in 0 1 2; do DISTRIBUTE_READY_FILE=ready-$i distribute cluster --ready && "
      "echo ready $i; done\n"
      "kill -TERM $pids\n"
      "for pid in $pids; do wait $pid; echo ended $?; done\ncat out-0\n");
  INFO(run.out);
  CHECK_THAT(run.out, !Contains("TOO EARLY"));
  for (const char* ready : {"ready 0", "ready 1", "ready 2"}) CHECK_THAT(run.out, Contains(ready));
  const std::regex ended("ended 143");
  CHECK(std::distance(std::sregex_iterator(run.out.begin(), run.out.end(), ended),
                      std::sregex_iterator()) == 3);
}

TEST_CASE("the first process of a container obeys SIGTERM, and saves before it goes",
          "[examples][mnist_cnn][kubernetes]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!has_namespaces("--pid --fork --mount-proc")) SKIP("no right to make process namespaces");
  const bool saves = GENERATE(true, false);
  const std::string flags = saves ? "--checkpoint_dir=ckpt --save_steps=100000000" : "";
  const ProgramResult run =
      shell(kWaitFor +
            "unshare --pid --fork --mount-proc mnist_cnn --model=tutorial --batch_size=1 "
            "--steps=100000000 " +
            flags +
            " > out 2>&1 & pid=$!\nwait_for out 'step 100 '\n"
            "kill -TERM $(cat /proc/$pid/task/$pid/children)\nwait $pid; echo ended $?\n"
            "ls ckpt 2>/dev/null; cat out\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("ended 143"));
  CHECK((run.out.find("preempted: saving a checkpoint after") != std::string::npos) == saves);
  CHECK((run.out.find("\ncheckpoint\n") != std::string::npos) == saves);
}

TEST_CASE("workers save together when a metadata server announces the end",
          "[examples][mnist_cnn][preemption_notice][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!distribute::io::has_http()) SKIP("this build has no libcurl");
  const HttpServer cloud([](const HttpServerRequest& request) -> HttpServerReply {
    return {.body = request.path().ends_with("/preempted") ? "TRUE" : "NONE"};
  });
  const TemporaryDirectory directory;
  auto options = cluster_options(3, kTiny + Words{"--steps=100000000", "--preemption_notice=gce",
                                                  "--checkpoint_dir=" + directory.path()});
  options.environment["GCE_METADATA_HOST"] = cloud.address();
  ProcessCluster cluster(options);
  for (int i = 0; i < 3; ++i) cluster.expect_failure({"worker", i});
  const auto outcomes = cluster.wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes) CHECK(outcome.status.code == 143);
  CHECK_THAT(outcomes[0].err, Contains("the metadata server of gce says that this machine goes"));
  CHECK(fs::exists(directory / "checkpoint"));
}

TEST_CASE("the chief of a job with parameter servers saves when it is told to go",
          "[examples][mnist_cnn][kubernetes][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory directory;
  auto options = cluster_options(
      2, kTiny + Words{"--strategy=parameter_server", "--steps=100000000", "--save_steps=100000000",
                       "--checkpoint_dir=" + directory.path()});
  options.parameter_servers = 1;
  options.chief = true;
  options.environment["DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT"] = "0.2";
  ProcessCluster cluster(options);
  for (const TaskName& task :
       {TaskName{"chief", 0}, TaskName{"worker", 0}, TaskName{"worker", 1}, TaskName{"ps", 0}})
    cluster.expect_failure(task);
  cluster.wait_for_output({"chief", 0}, "step 100 ");
  cluster.kill({"chief", 0}, SIGTERM);
  const auto outcomes = cluster.wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes)
    CHECK(outcome.status.code ==
          (outcome.name == "chief" || outcome.name == "chief 0" ? 143 : 138));
  CHECK(fs::exists(directory / "checkpoint"));
}

TEST_CASE("an evaluator follows the checkpoints to the last step",
          "[examples][mnist_cnn][kubernetes][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = shell(
      // As the operator gives it: the evaluator is listed, too.
      "evaluator='{\"cluster\":{\"chief\":[\"127.0.0.1:1\"],\"evaluator\":[\"127.0.0.1:2\"]},"
      "\"task\":{\"type\":\"evaluator\",\"index\":0},\"environment\":\"cloud\"}'\n"
      "flags='--model=tutorial --batch_size=6 --steps=40 --save_steps=20 --checkpoint_dir=ckpt "
      "--metric_lines --logdir=logs'\n"
      "TF_CONFIG=\"$evaluator\" mnist_cnn $flags > evaluator 2>&1 & pid=$!\n"
      "mnist_cnn $flags > trainer; echo trained $?\nwait $pid; echo evaluated $?\n"
      "grep 'test loss' trainer; tail -2 evaluator; ls logs/eval; cat evaluator\n"
      "TF_CONFIG=\"$evaluator\" mnist_cnn --checkpoint_dir=none --eval_timeout=0.1; "
      "echo waited $?\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("trained 0") && Contains("evaluated 0") &&
                          Contains("at step 40\n") && Contains("waited 138") &&
                          Contains("no further checkpoint has appeared in none"));
  // Both say the same about the last weights.
  const std::regex last(
      R"(test loss (\S+)  test accuracy (\S+)\ntest loss \1  test accuracy \2\n)");
  CHECK(std::regex_search(run.out, last));
  CHECK(std::regex_search(run.out, std::regex(R"(\nstep=40 test_loss=\S+ test_accuracy=\S+\n)")));
}

TEST_CASE("tuners find figures in the output only when they are asked for",
          "[examples][mnist_cnn][kubernetes]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult plain = train({"--steps=1"}),
                      lines = train({"--steps=100", "--metric_lines"});
  CHECK_THAT(plain.out, !Contains("="));
  CHECK_THAT(plain.out, Contains("step 1  loss "));
  CHECK_THAT(lines.out, Contains("step 100  loss "));
  CHECK(std::regex_search(lines.out, std::regex(R"(\nstep=100 loss=[0-9.e-]+\n)")));
  CHECK(std::regex_search(lines.out,
                          std::regex(R"(\nstep=100 test_loss=\S+ test_accuracy=0\.\d+\n)")));
}

TEST_CASE("a task without the job's token says where to put it",
          "[examples][mnist_cnn][kubernetes]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string config =
      "env -u DISTRIBUTE_JOB_TOKEN -u DISTRIBUTE_JOB_TOKEN_FILE "
      "TF_CONFIG='{\"cluster\":{\"worker\":[\"mnist-0.mnist:8470\",\"mnist-1.mnist:8470\"]},"
      "\"task\":{\"type\":\"worker\",\"index\":0}}' DISTRIBUTE_BIND_ADDRESS=0.0.0.0:0";
  const ProgramResult run = train({"--steps=1"}, config);
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("without a job token tasks may only use loopback addresses") &&
                          Contains("DISTRIBUTE_JOB_TOKEN"));
}

TEST_CASE("an instance group of Compute Engine is the cluster by flags",
          "[examples][mnist_cnn][gce]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!distribute::io::has_http()) SKIP("this build has no libcurl");
  HttpServer cloud{[](const HttpServerRequest& request) -> HttpServerReply {
    const std::string path = request.path();
    if (path == "/computeMetadata/v1/instance/network-interfaces/0/ip")
      return {.body = "127.0.0.1"};
    if (path == "/computeMetadata/v1/project/project-id") return {.body = "my-project"};
    if (path == "/v1/projects/my-project/zones/z/instanceGroups/trainers/listInstances")
      return {.body = R"({"items":[{"instance":"https://x/zones/z/instances/a"}]})"};
    if (path == "/v1/projects/my-project/zones/z/instances/a")
      return {.body = R"({"networkInterfaces":[{"networkIP":"127.0.0.1"}]})"};
    return {.status = 404};
  }};
  const std::string environment =
      "GOOGLE_AUTH_TOKEN_FOR_TESTING=t GCE_METADATA_HOST=" + cloud.url().substr(7) + " ";
  const Words group{"--gce_instance_group=trainers", "--gce_zone=z",
                    "--gce_service=" + cloud.url() + "/v1"};
  const ProgramResult run = train(group + Words{"--steps=2", "--json"}, environment);
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("multi_worker"));
  const ProgramResult refused = train({"--steps=1", "--gce_zone=z"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("--gce_zone does nothing without --gce_instance_group"));
}
