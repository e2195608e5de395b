#include <distribute/base/error.hpp>
#include <distribute/platforms/job_paths.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using Variables = std::map<std::string, std::string>;
namespace fs = std::filesystem;

namespace {

/// /opt/ml of a container without SageMaker's toolkit.
struct OptMl {
  TemporaryDirectory root;
  OptMl() { fs::create_directories(root / "input/config"); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(root / ("input/config/" + name)) << text;
  }
  JobPaths read(Variables more = {}) const {
    more.insert({{"TRAINING_JOB_NAME", "j"},
                 {"TRAINING_JOB_ARN", "arn:j"},
                 {"SAGEMAKER_BASE_DIR", root.path()}});
    return read_job_paths(Environment(more));
  }
};

}  // namespace

TEST_CASE("without a service nothing is said", "[cluster][job_paths]") {
  const JobPaths paths = read_job_paths(Environment(Variables{}));
  CHECK(paths.service == "");
  CHECK(paths.model + paths.checkpoints + paths.logs + paths.failure == "");
  CHECK(paths.training_data() == "");
}

TEST_CASE("SageMaker's folders and files are read without its toolkit", "[cluster][job_paths]") {
  OptMl ml;
  ml.write("inputdataconfig.json", R"({"training": {"TrainingInputMode": "File"}, "test": {}})");
  ml.write("hyperparameters.json",
           R"({"learning_rate": "0.01", "optimizer": "\"adam\"", "shuffle": "false",
               "sagemaker_program": "\"x.py\"", "_tuning_objective_metric": "a"})");
  const JobPaths paths = ml.read();
  CHECK(paths.service == "SageMaker");
  CHECK(paths.model == ml.root / "model");
  CHECK(paths.output == ml.root / "output/data");
  CHECK(paths.failure == ml.root / "output/failure");
  CHECK(paths.logs == ml.root / "output/data/logs");
  CHECK(paths.checkpoints == "");  // no CheckpointConfig, no folder
  CHECK(paths.training_data() == ml.root / "input/data/training");
  CHECK(paths.hyperparameters ==
        Variables{{"learning_rate", "0.01"}, {"optimizer", "adam"}, {"shuffle", "false"}});
  fs::create_directories(ml.root / "checkpoints");
  fs::create_directories(ml.root / "output/tensorboard");
  CHECK(ml.read().checkpoints == ml.root / "checkpoints");
  CHECK(ml.read().logs == ml.root / "output/tensorboard");
}

TEST_CASE("the variables of SageMaker's toolkit win over files", "[cluster][job_paths]") {
  OptMl ml;
  ml.write("hyperparameters.json", R"({"seed": "1"})");
  const JobPaths paths = ml.read({{"SM_HOSTS", R"(["algo-1"])"},
                                  {"SM_MODEL_DIR", "/m"},
                                  {"SM_HPS", R"({"batch-size": 64, "shuffle": true})"},
                                  {"SM_INPUT_DATA_CONFIG", R"({"photos": {}})"},
                                  {"SM_CHANNEL_PHOTOS", "/p"}});
  CHECK(paths.model == "/m");
  CHECK(paths.hyperparameters == Variables{{"batch-size", "64"}, {"shuffle", "true"}});
  CHECK(paths.training_data() == "/p");  // the only one
}

TEST_CASE("the model_dir that SageMaker's SDK adds is a directory, no flag",
          "[cluster][job_paths]") {
  OptMl ml;
  ml.write("hyperparameters.json", R"({"seed": "1", "model_dir": "\"s3://bucket/job/model\""})");
  CHECK(ml.read().checkpoints == "s3://bucket/job/model");
  CHECK(ml.read().model == ml.root / "model");
  CHECK(ml.read().hyperparameters == Variables{{"seed", "1"}});
  fs::create_directories(ml.root / "checkpoints");
  CHECK(ml.read().checkpoints == ml.root / "checkpoints");
  ml.write("hyperparameters.json", R"({"model_dir": "\"/opt/ml/shared/model\""})");
  CHECK(ml.read().model == "/opt/ml/shared/model");
  ml.write("hyperparameters.json", R"({"model_dir": "null"})");
  CHECK(ml.read().model == ml.root / "model");
}

TEST_CASE("SageMaker's local mode is found by its files", "[cluster][job_paths]") {
  OptMl ml;
  ml.write("hyperparameters.json", R"({"seed": "1"})");
  const Environment local(
      Variables{{"TRAINING_JOB_NAME", "j"}, {"SAGEMAKER_BASE_DIR", ml.root.path()}});
  CHECK(read_job_paths(local).service == "");
  ml.write("resourceconfig.json", R"({"current_host": "a", "hosts": ["a"]})");
  CHECK(read_job_paths(local).service == "SageMaker");
  CHECK(read_job_paths(local).hyperparameters == Variables{{"seed", "1"}});
}

TEST_CASE("damaged files of SageMaker are named", "[cluster][job_paths]") {
  OptMl ml;
  ml.write("hyperparameters.json", R"({"a": )");
  CHECK_THROWS_SAYING(ml.read(), InvalidArgumentError, "hyperparameters.json: not valid JSON");
  ml.write("hyperparameters.json", R"({"a": [1]})");
  CHECK_THROWS_SAYING(ml.read(), InvalidArgumentError,
                      "hyperparameter 'a' must be a number, a text or a switch");
  ml.write("hyperparameters.json", R"([])");
  CHECK_THROWS_SAYING(ml.read(), InvalidArgumentError, "hyperparameters.json");
}

TEST_CASE("Vertex AI names folders, and --job-dir wins over them", "[cluster][job_paths]") {
  const Environment vertex(Variables{{"AIP_MODEL_DIR", "gs://b/x/model/"},
                                     {"AIP_CHECKPOINT_DIR", "gs://b/x/checkpoints/"},
                                     {"AIP_TENSORBOARD_LOG_DIR", "gs://b/x/logs/"}});
  const JobPaths paths = read_job_paths(vertex);
  CHECK(paths.service == "Vertex AI");
  CHECK(paths.model == "gs://b/x/model/");
  CHECK(paths.checkpoints == "gs://b/x/checkpoints/");
  CHECK(paths.logs == "gs://b/x/logs/");
  const JobPaths given = read_job_paths(vertex, "gs://b/job7");
  CHECK(given.service == "--job-dir");
  CHECK(given.checkpoints == "gs://b/job7/checkpoints");
  CHECK(given.model == "gs://b/job7/model");
  CHECK(given.logs == "gs://b/job7/logs");
}

TEST_CASE("hyperparameters and words of services become flags of the program",
          "[cluster][job_paths]") {
  OptMl ml;
  ml.write("hyperparameters.json", R"({"learning-rate": "0.01", "optimizer": "\"adam\""})");
  const Environment sagemaker(Variables{{"TRAINING_JOB_NAME", "j"},
                                        {"TRAINING_JOB_ARN", "arn:j"},
                                        {"SAGEMAKER_BASE_DIR", ml.root.path()}});
  // The toolkit gives hyperparameters once more, as words with dashes.
  const char* words[] = {"trainer", "train", "--learning-rate", "0.02", "--batch-size=7.0"};
  CHECK(job_arguments(5, words, sagemaker) ==
        std::vector<std::string>{"--learning_rate=0.01", "--optimizer=adam", "--learning_rate",
                                 "0.02", "--batch_size=7.0"});
  const char* vertex[] = {
      "trainer", "--job-dir=gs://b-c/x", "--batch_size=50.0", "--rate=0.50", "--shift", "-3.0",
      "train"};
  CHECK(job_arguments(7, vertex, Environment(Variables{{"CLOUD_ML_TRIAL_ID", "1"}})) ==
        std::vector<std::string>{"--job_dir=gs://b-c/x", "--batch_size=50", "--rate=0.50",
                                 "--shift", "-3", "train"});
  CHECK(job_arguments(3, vertex, Environment(Variables{})) ==
        std::vector<std::string>{"--job_dir=gs://b-c/x", "--batch_size=50.0"});

  int argc = 3;
  char** argv = const_cast<char**>(vertex);
  take_job_arguments(argc, argv, Environment(Variables{}));
  REQUIRE(argc == 3);
  CHECK(std::string(argv[0]) == "trainer");
  CHECK(std::string(argv[1]) == "--job_dir=gs://b-c/x");
  CHECK(argv[3] == nullptr);
}

/// The hyperparameters are what sagemaker 2.257 sends for TensorFlow(distribution=...), the
/// variables what sagemaker-training 5.1 sets.
TEST_CASE("processes_per_host of SageMaker's mpi distribution is read", "[cluster][job_paths]") {
  OptMl ml;
  const auto read = [&](const std::string& hyperparameters, Variables more = {}) {
    ml.write("hyperparameters.json", hyperparameters);
    more.insert({{"TRAINING_JOB_NAME", "j"},
                 {"TRAINING_JOB_ARN", "arn:j"},
                 {"SAGEMAKER_BASE_DIR", ml.root.path()}});
    return read_sagemaker_processes(Environment(more));
  };
  const auto mpi = read(R"({"epochs": "3", "sagemaker_mpi_enabled": "true",
      "sagemaker_mpi_num_of_processes_per_host": "2", "sagemaker_mpi_custom_mpi_options":
      "\"-verbose --NCCL_DEBUG=INFO -x OMP_NUM_THREADS=2 -x PATH\""})");
  CHECK(mpi.per_host == 2);
  CHECK(mpi.environment == Variables{{"NCCL_DEBUG", "INFO"}, {"OMP_NUM_THREADS", "2"}});
  CHECK(mpi.left_out == "-verbose");
  CHECK(read(R"({"sagemaker_mpi_enabled": "true",
                 "sagemaker_mpi_custom_mpi_options": "\"\""})")
            .per_host == 0);
  CHECK(read(R"({"sagemaker_mpi_enabled": "false",
                 "sagemaker_mpi_num_of_processes_per_host": "2"})")
            .per_host == 2);
  CHECK(read(R"({"epochs": "3"})").per_host == 1);
  CHECK(read("{}", {{"SM_HPS", R"({"epochs": 3})"},
                    {"SM_FRAMEWORK_PARAMS",
                     R"({"sagemaker_mpi_custom_mpi_options": "", "sagemaker_mpi_enabled": true,
                         "sagemaker_mpi_num_of_processes_per_host": 4})"}})
            .per_host == 4);
  CHECK(read_sagemaker_processes(Environment(Variables{})).per_host == 1);
  CHECK_THROWS_SAYING(read(R"({"sagemaker_mpi_enabled": "true",
                               "sagemaker_mpi_num_of_processes_per_host": "two"})"),
                      InvalidArgumentError,
                      "sagemaker_mpi_num_of_processes_per_host must be a number");
}

TEST_CASE("the reason of a failure goes to SageMaker's file", "[cluster][job_paths]") {
  OptMl ml;
  fs::create_directories(ml.root / "output");
  const Environment sagemaker(Variables{{"TRAINING_JOB_NAME", "j"},
                                        {"TRAINING_JOB_ARN", "arn:j"},
                                        {"SAGEMAKER_BASE_DIR", ml.root.path()}});
  write_job_failure(std::string(2000, 'x'), sagemaker);
  CHECK(fs::file_size(ml.root / "output/failure") == 1025);
  write_job_failure("nowhere to write it", Environment(Variables{}));
}
