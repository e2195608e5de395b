/// The scripts of examples/deploy, with launchers and clouds that are small shell programs here.

#include "picture_files.hpp"
#include "shell.hpp"

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;

namespace {

const std::string kDeploy = distribute::testing::source_dir() + "/examples/deploy/";
const std::string kFlags = " --model=tutorial --batch_size=6 --steps=4 --shuffle=false ";
/// In front of every script: a folder of programs that come before the system's.
const std::string kFakes = "mkdir fake; PATH=$PWD/fake:$PATH; chmod +x fake\n";

/// A program of that folder. `text` is without single quotes.
std::string fake(const std::string& name, const std::string& text) {
  return "printf '%s' '#!/bin/bash\n" + text + "' > fake/" + name + "; chmod +x fake/" + name +
         "\n";
}

/// Starts three tasks of a step on the nodes 127.0.0.2 to 4.
const std::string kSrun =
    "while [[ $1 == --* ]]; do shift; done\n"
    "export SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NODELIST=127.0.0.[2-4] "
    "SLURM_STEP_TASKS_PER_NODE=\"1(x3)\"\npids=\n"
    "for i in 0 1 2; do SLURM_PROCID=$i SLURM_NODEID=$i SLURM_LOCALID=0 NODE=127.0.0.$((i + 2)) "
    "\"$@\" & pids=\"$pids $!\"; done\n"
    "status=0; for pid in $pids; do wait $pid || status=$?; done; exit $status\n";

}  // namespace

TEST_CASE("Slurm's script trains on the nodes of its step and tries again after a loss",
          "[examples][deploy][slurm][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = shell(
      kFakes + fake("srun", kSrun) + fake("scontrol", "echo scontrol $*\n") +
      "export SLURM_JOB_ID=7 PROGRAM=mnist_cnn RUN_DIR=$PWD/run\n"
      "bash " +
      kDeploy + "slurm/workers.sbatch" + kFlags + "; echo ended $?\nls run/checkpoints\n" +
      fake("srun", "exit 138\n") + "bash " + kDeploy + "slurm/workers.sbatch; echo lost $?\n" +
      fake("srun", "exit 1\n") + "bash " + kDeploy + "slurm/workers.sbatch; echo failed $?\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("test loss ") && Contains("ended 0") && Contains("checkpoint\n"));
  CHECK_THAT(run.out, Contains("scontrol requeue 7\nlost 138\nfailed 1\n"));
}

TEST_CASE("Slurm's script for parameter servers makes its own cluster",
          "[examples][deploy][slurm][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  // Five nodes; the boot script is told which one it is on.
  const std::string srun =
      "while [[ $1 == --* ]]; do shift; done\npids=\nscript=$2; shift 2\n"
      "for i in 2 3 4 5 6; do sh $script --host 127.0.0.$i \"$@\" & pids=\"$pids $!\"; done\n"
      "status=0; for pid in $pids; do wait $pid || status=$?; done; exit $status\n";
  const ProgramResult run = shell(
      kFakes + fake("srun", srun) + "export SLURM_JOB_ID=7 SLURM_JOB_NODELIST=127.0.0.[2-6] BIN=" +
      distribute::testing::binary_dir() + " RUN_DIR=$PWD/run\nbash " + kDeploy +
      "slurm/parameter_servers.sbatch" + kFlags + "; echo ended $?\ncat run/tf_config.sh\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("ended 0") && Contains("test loss ") &&
                          Contains("# 127.0.0.2: chief 0") && Contains("# 127.0.0.4: ps 1") &&
                          Contains("# 127.0.0.6: worker 1"));
}

TEST_CASE("Slurm's script for a data service trains with a worker on each further node",
          "[examples][deploy][slurm][multiproc]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory pictures;
  picture_files::write_folder(pictures.path(), 12);
  const std::string srun = "while [[ $1 == --* ]]; do shift; done\nexec \"$@\"\n";
  const ProgramResult run =
      shell(kFakes + fake("srun", srun) +
            fake("scontrol", "printf \"127.0.0.%s\\n\" 2 3 4\n") +  // of `show hostnames`
            // The job's number is that of a free port; the others must know it beforehand.
            "export SLURM_JOB_ID=$(python3 -c 'import socket; s = socket.socket(); "
            "s.bind((\"\", 0)); print(s.getsockname()[1] - 20000)')\n"
            "export SLURM_JOB_NODELIST=three BIN=" +
            distribute::testing::binary_dir() + "\nbash " + kDeploy +
            "slurm/data_service.sbatch --dataset=folder --data_dir=" + pictures.path() +
            " --num_classes=7 --model=resnet8 --image_size=16 --batch_size=6 --steps=8 --strict"
            " 2>&1; echo ended $?\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("data worker at 127.0.0.3:") &&
                          Contains("data worker at 127.0.0.4:") && Contains("step 8 ") &&
                          Contains("ended 0"));
}

TEST_CASE("mpirun's ranks meet at the first host", "[examples][deploy][mpi][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string mpirun =
      "echo mpirun \"$@\" > arguments\n"
      "while [[ $1 == -* ]]; do [[ $1 == -x && $2 == *=* ]] && export \"$2\"; shift 2; done\n"
      "pids=\nfor i in 0 1 2; do OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=$i \"$@\" & "
      "pids=\"$pids $!\"; done\n"
      "status=0; for pid in $pids; do wait $pid || status=$?; done; exit $status\n";
  const ProgramResult run = shell(
      kFakes + fake("mpirun", mpirun) + "export PROGRAM=mnist_cnn MPIRUN='mpirun --tag job'\n" +
      kDeploy + "mpi/run.sh 127.0.0.1:2,127.0.0.2" + kFlags + "; echo ended $?\ncat arguments\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("ended 0") && Contains("test loss ") &&
                          Contains("mpirun --tag job -np 3 --host 127.0.0.1:2,127.0.0.2") &&
                          Contains("-x MASTER_ADDR=127.0.0.1 "));
}

namespace {

/// examples/deploy/emr/step.sh on core nodes that are addresses of this machine.
ProgramResult emr_step(int nodes, const std::string& variables, const std::string& flags) {
  std::string instances;
  for (int node = 0; node < nodes; ++node)
    instances += std::string(instances.empty() ? "" : ",") + R"({"PrivateDnsName": "127.0.0.)" +
                 std::to_string(2 + node) + R"(", "Status": {"State": "RUNNING"}})";
  return shell(kFakes + fake("aws", "echo \"$@\" >> calls; cat instances.json\n") +
               fake("ssh", "shift; exec sh -c \"mkdir -p home$$; cd home$$; $1\"\n") +
               "echo '{\"Instances\": [" + instances + "]}' > instances.json\n" +
               "mkdir d; ln -s " + distribute::testing::binary_dir() +
               "/* d; echo secret-of-these-tests > d/token\n" + variables +
               " DISTRIBUTE_HOME=$PWD/d DISTRIBUTE_SSH=ssh bash " + kDeploy +
               "emr/step.sh j-1 $PWD/s3" + kFlags + flags +
               "; echo ended $?\nls s3/checkpoints; cat calls\n");
}

}  // namespace

TEST_CASE("a step of EMR starts a worker on every core node",
          "[examples][deploy][emr][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = emr_step(3, "", "");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("workers: 127.0.0.2 127.0.0.3 127.0.0.4") && Contains("ended 0") &&
                          Contains("test loss ") && Contains("\ncheckpoint\n") &&
                          Contains("emr list-instances --cluster-id j-1"));
}

TEST_CASE("a step of EMR gives core nodes the roles of chief and server",
          "[examples][deploy][emr][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = emr_step(3, "CHIEFS=1 SERVERS=1", " --strategy=parameter_server");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("workers: 127.0.0.4  servers: 127.0.0.3  chief: 127.0.0.2") &&
                          Contains("ended 0") && Contains("test loss "));
}

namespace {

/// S3 is the folder s3 here; a cluster runs its bootstrap action once for all nodes, and a step its
/// command.
const std::string kAws =
    "place() { case $1 in s3://*) echo \"$S3/${1#s3://}\" ;; *) echo \"$1\" ;; esac; }\n"
    "echo \"aws $*\" >> \"$S3/calls\"\n"
    "case \"$1 $2\" in\n"
    "\"s3 cp\")\n"
    "  shift 2; [ \"$1\" = --only-show-errors ] && shift\n"
    "  to=$(place \"$2\"); mkdir -p \"$(dirname \"$to\")\"; cp \"$(place \"$1\")\" \"$to\" ;;\n"
    "\"emr create-cluster\")\n"
    "  all=$*; action=${all##*--bootstrap-actions Path=}; path=${action%%,*}; "
    "args=${action##*Args=[}\n"
    "  bash \"$(place \"$path\")\" \"${args%]}\" ;;\n"
    "\"emr list-instances\") cat \"$S3/instances.json\" ;;\n"
    "\"emr add-steps\") all=$*; step=${all##*Args=[bash,-c,}; bash -c \"${step%]}\" ;;\n"
    "*) exit 9 ;;\n"
    "esac\n";

/// The first lines of the page that are for a shell.
std::string lines_of_page(const std::string& page) {
  const std::string text = file_text(distribute::testing::source_dir() + "/docs/" + page);
  const size_t begin = text.find("```sh\n") + 6;
  return text.substr(begin, text.find("```", begin) - begin);
}

}  // namespace

TEST_CASE("the lines of EMR's page train on its nodes", "[examples][deploy][emr][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_PROGRAM("distribute");
  std::string lines = lines_of_page("emr.md");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = lines.find(from);
    REQUIRE(at != std::string::npos);
    lines.replace(at, from.size(), to);
  };
  replace("step.sh j-1 s3://bucket/runs/1 --epochs=3", "step.sh j-1 $PWD/runs/1" + kFlags);
  const ProgramResult run = shell(
      kFakes + fake("aws", kAws) + fake("tensorboard", "echo \"tensorboard $*\"\n") +
      fake("ssh", "shift; exec sh -c \"mkdir -p home$$; cd home$$; $1\"\n") +
      "export S3=$PWD/s3 DISTRIBUTE_HOME=$PWD/nodes DISTRIBUTE_SSH=ssh; mkdir s3 build\n"
      "echo '{\"Instances\": [{\"PrivateDnsName\": \"127.0.0.2\", \"Status\": {\"State\": "
      "\"RUNNING\"}}, {\"PrivateDnsName\": \"127.0.0.3\", \"Status\": {\"State\": \"RUNNING\"}}]}' "
      "> s3/instances.json\n"
      "ln -s " +
      distribute::testing::source_dir() +
      "/examples examples\n"
      "mkdir -p build/release; ln -s " +
      distribute::testing::binary_dir() +
      " build/release/bin\n"
      "set -e\n" +
      lines + "echo all done; ls runs/1/checkpoints nodes nodes/data\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("all done") && Contains("workers: 127.0.0.2 127.0.0.3") &&
                          Contains("test loss ") && Contains("\ncheckpoint\n") &&
                          Contains("t10k-images") && Contains("tensorboard --logdir"));
}

TEST_CASE("the requests to SageMaker and Vertex AI hold what the trainers read",
          "[examples][deploy][sagemaker][vertex]") {
  const ProgramResult sagemaker =
      shell("PRINT=1 " + kDeploy + "sagemaker/create_training_job.sh n image role s3://b/x\n");
  const auto request = nlohmann::json::parse(sagemaker.out);
  CHECK(request.at("ResourceConfig").at("InstanceCount") == 3);
  CHECK(request.at("Environment").at("DISTRIBUTE_JOB_TOKEN").get<std::string>().size() == 64);
  CHECK(request.at("CheckpointConfig").at("S3Uri") == "s3://b/x/checkpoints/n");
  for (const auto& [name, value] : request.at("HyperParameters").items()) CHECK(value.is_string());
  const ProgramResult vertex =
      shell("PRINT=1 WORKERS=4 " + kDeploy + "vertex/custom_job.sh n r image gs://b/x\n");
  CHECK_THAT(vertex.out, Contains("replicaCount: 1") && Contains("replicaCount: 4") &&
                             Contains("outputUriPrefix: gs://b/x") &&
                             Contains("name: DISTRIBUTE_JOB_TOKEN"));
  CHECK_THAT(shell(kDeploy + "vertex/custom_job.sh n 2>&1\n").out, Contains("REGION IMAGE"));
  const ProgramResult study =
      shell("PRINT=1 WORKERS=2 " + kDeploy + "vertex/tuning_job.sh n r image gs://b/x\n");
  CHECK_THAT(study.out, Contains("metricId: test_accuracy") && Contains("replicaCount: 2") &&
                            Contains("parameterId: learning_rate"));
}

TEST_CASE("jobs of Vertex AI take the trainer's flags, cards, servers and a metric's name",
          "[examples][deploy][vertex]") {
  const ProgramResult job =
      shell("PRINT=1 WORKERS=0 SERVERS=1 MACHINE=g2-standard-8 ACCELERATOR=NVIDIA_L4:2 " + kDeploy +
            "vertex/custom_job.sh n r image gs://b/x --epochs=2 '--name=a \"b\"'\n");
  INFO(job.out);
  const std::string pool =
      "  - machineSpec: {machineType: g2-standard-8, acceleratorType: NVIDIA_L4, acceleratorCount: "
      "2}\n    replicaCount: 1\n";
  const std::string servers =
      "  - machineSpec: {machineType: n2-standard-8}\n    replicaCount: 1\n";
  CHECK_THAT(job.out, Contains("workerPoolSpecs:\n" + pool) && Contains("\n  - {}\n" + servers) &&
                          Contains("args: [\"--epochs=2\", \"--name=a \\\"b\\\"\"]"));
  const ProgramResult large = shell("PRINT=1 SERVERS=2 SERVER_MACHINE=n2-highmem-8 " + kDeploy +
                                    "vertex/custom_job.sh n r image gs://b/x\n");
  CHECK_THAT(large.out, Contains("{machineType: n2-highmem-8}\n    replicaCount: 2\n") &&
                            Contains("{machineType: n2-standard-8}\n    replicaCount: 2\n"));
  const ProgramResult study = shell("PRINT=1 METRIC=val_loss GOAL=MINIMIZE " + kDeploy +
                                    "vertex/tuning_job.sh n r image gs://b/x --rate=1\n");
  CHECK_THAT(study.out, Contains("{metricId: val_loss, goal: MINIMIZE}") &&
                            Contains("args: [\"--rate=1\"]") && !Contains("METRIC_TAG"));
  const ProgramResult sent =
      shell(kFakes + fake("gcloud", "echo \"$@\"; cat \"${@: -1}\"\n") + "bash " + kDeploy +
            "vertex/custom_job.sh n r image gs://b/x | sed 's/config=.*/c/'\n");
  CHECK_THAT(sent.out, Contains("ai custom-jobs create --display-name=n --region=r --c"));
}
