// The example trainers on GPUs: each step's loss is that of the same training on CPUs. The whole
// run happens in this process, where the fake driver is.
#include <examples/common/run_trainer.hpp>
#include <examples/mnist_cnn/model.hpp>
#include <examples/resnet50/model.hpp>
#include <examples/text_transformer/model.hpp>

#include <tests/support/library_gpu.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace {

namespace dist = distribute;
namespace data = distribute::data;
using distribute::testing::contract_numbers;
using distribute::testing::FakeCuda;
using distribute::testing::LibraryGpu;
using examples::TrainerOptions;

constexpr int64_t kBatch = 6, kSteps = 3, kPictures = 12;

/// The flags' defaults for a few steps.
TrainerOptions few_steps() {
  static const TrainerOptions defaults = [] {
    std::string name = "gpu_trainers_test";
    char* arguments[] = {name.data(), nullptr};
    return examples::parse_options(1, arguments, "");  // once in a process
  }();
  TrainerOptions options = defaults;
  options.strategy = "mirrored";
  options.replicas = 1;  // a real GPU is divided
  options.batch_size = kBatch;
  options.steps = kSteps;
  options.optimizer = "momentum";
  options.learning_rate = 0.02;
  return options;
}

examples::Task task_of(std::unique_ptr<dist::nn::Module> model, const data::Dataset& pictures,
                       const std::vector<int64_t>& input) {
  return {.model = std::move(model),
          .input = {input},
          .training_examples = kPictures,
          .training = pictures.repeat().batch(kBatch),
          .test = pictures.batch(5)};
}

examples::Task digits() {
  return task_of(std::make_unique<dist::nn::Sequential>(mnist_cnn::tutorial_model()),
                 data::load_mnist(distribute::testing::source_dir() + "/examples/mnist_cnn/data")
                     .take(kPictures),
                 {-1, 28, 28, 1});
}

examples::Task pictures() {
  resnet50::Options options;
  options.common.model = "resnet8";
  options.num_classes = 10;
  options.width = 4;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kPictures; ++i) labels.push_back(i * 7 % 10);
  auto task = task_of(resnet50::make_model(options),
                      data::Dataset::from_tensor_slices(contract_numbers({kPictures, 8, 8, 3}),
                                                        dist::Tensor({kPictures}, labels)),
                      {-1, 8, 8, 3});
  task.top_5 = true;
  return task;
}

/// Pieces of a text whose characters are numbers below 8.
examples::Task text() {
  text_transformer::Options options;
  options.layers = 1;
  options.width = options.vocabulary = 8;
  options.heads = 2;
  options.context = 5;
  std::vector<int32_t> characters;
  for (int32_t i = 0; i < kPictures * 5; ++i) characters.push_back(i * i % 7);
  const dist::Tensor x({kPictures, 5}, characters);
  auto task = task_of(std::make_unique<text_transformer::Decoder>(options),
                      data::Dataset::from_tensor_slices(x, dist::cast(x, dist::DType::Int64)), {});
  task.input = {{-1, 5}, dist::DType::Int32};
  task.labels = 5;
  task.sample = [](dist::nn::Module& model) {
    const auto logits = model(dist::zeros({1, 5}, dist::DType::Int32)).to_vector();
    return std::to_string(logits.size());
  };
  return task;
}

/// What a run wrote: loss and norm of the gradients of each step, loss and accuracy of the test.
struct Run {
  std::vector<double> numbers;
  nlohmann::json report;
};

/// A whole run as `main` does it; runs of more steps may be CUDA graphs, and have no numbers of
/// each.
Run run(TrainerOptions options, const examples::MakeTask& make_task) {
  const TemporaryDirectory out;
  if (options.steps == kSteps) options.loss_csv = out / "losses.csv";
  options.json.value = out / "report.json";
  REQUIRE(examples::run_trainer(options, make_task) == 0);
  dist::nn::set_global_policy("float32");
  Run result;
  std::ifstream(*options.json.value) >> result.report;
  std::ifstream file(options.loss_csv);
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    double step = 0, loss = 0, norm = 0;
    char comma = 0;
    std::istringstream(line) >> step >> comma >> loss >> comma >> norm;
    result.numbers.insert(result.numbers.end(), {loss, norm});
  }
  for (const char* name : {"test_loss", "test_accuracy"})
    result.numbers.push_back(result.report.at(name).get<double>());
  return result;
}

Run run_on_cpus(TrainerOptions options, const examples::MakeTask& make_task) {
  const LogicalDevices devices(options.replicas);
  options.device = "cpu";
  return run(options, make_task);
}

Run run_on_gpus(TrainerOptions options, const examples::MakeTask& make_task) {
  const LibraryGpu gpu;
  options.device = "gpu";
  return run(options, make_task);
}

void check_alike(const Run& cpu, const Run& gpu, double tolerance = 2e-3) {
  CHECK(cpu.report.at("device") == "cpu");
  CHECK(gpu.report.at("device") == "gpu");
  for (const char* name : {"strategy", "replicas", "parameters", "steps"})
    CHECK(cpu.report.at(name) == gpu.report.at(name));
  CHECK(gpu.report.at("peak_gpu_bytes").get<int64_t>() > 0);
  REQUIRE(cpu.numbers.size() == 2 * kSteps + 2);
  REQUIRE(gpu.numbers.size() == cpu.numbers.size());
  for (size_t i = 0; i < cpu.numbers.size(); ++i) {
    INFO("number " << i);
    CHECK(gpu.numbers[i] == Approx(cpu.numbers[i]).margin(2e-4).epsilon(tolerance));
  }
}

void check_on_gpus(const char* strategy, int replicas, const examples::MakeTask& make_task) {
  INFO(strategy << " with " << replicas << " replicas");
  TrainerOptions options = few_steps();
  options.strategy = strategy;
  options.replicas = replicas;
  check_alike(run_on_cpus(options, make_task), run_on_gpus(options, make_task));
}

}  // namespace

TEST_CASE("trainers on one GPU give the losses of a CPU", "[examples][gpu_contract]") {
  check_on_gpus("one_device", 1, &pictures);
  for (const char* strategy : {"mirrored", "central_storage", "parameter_server"})
    check_on_gpus(strategy, 1, &pictures);
}

TEST_CASE("trainers on two logical GPUs give the losses of two CPU replicas",
          "[examples][gpu_contract]") {
  check_on_gpus("mirrored", 2, &digits);
  for (const char* strategy : {"mirrored", "central_storage", "parameter_server"})
    check_on_gpus(strategy, 2, &pictures);
}

TEST_CASE("the text trainer on GPUs gives the losses of CPUs, and its sample",
          "[examples][gpu_contract][text]") {
  check_on_gpus("one_device", 1, &text);
  check_on_gpus("mirrored", 2, &text);
}

TEST_CASE("a trainer's steps as CUDA graphs end where plain ones do", "[examples][gpu_contract]") {
  TrainerOptions options = few_steps();
  options.strategy = "one_device";
  options.device = "gpu";
  options.optimizer = "adam";
  options.clip_norm = 0.5;
  options.steps = 5;
  std::vector<double> test_losses;
  for (const char* cuda_graph : {"false", "auto"}) {
    const LibraryGpu gpu;
    options.cuda_graph = cuda_graph;
    test_losses.push_back(run(options, &digits).report.at("test_loss").get<double>());
    if (FakeCuda* fake = gpu.gpu.fake())
      CHECK(fake->count("cuGraphLaunch") == (options.cuda_graph == "auto" ? 3 : 0));
  }
  CHECK(test_losses[1] == Approx(test_losses[0]).epsilon(2e-3));
}

TEST_CASE("with variables elsewhere --cuda_graph=auto ends where plain steps do",
          "[examples][gpu_contract]") {
  TrainerOptions options = few_steps();
  options.device = "gpu";
  options.steps = 5;
  for (const char* strategy : {"central_storage", "parameter_server"}) {
    INFO(strategy);
    options.strategy = strategy;
    std::vector<double> test_losses;
    for (const char* cuda_graph : {"false", "auto"}) {
      const LibraryGpu gpu;
      options.cuda_graph = cuda_graph;
      test_losses.push_back(run(options, &digits).report.at("test_loss").get<double>());
    }
    CHECK(test_losses[1] == Approx(test_losses[0]).epsilon(2e-3));
  }
}

#if DISTRIBUTE_HAS_CUDNN

TEST_CASE("trainers on one GPU in bfloat16 give about the losses of a CPU",
          "[examples][gpu_contract]") {
  TrainerOptions options = few_steps();
  options.policy = "mixed_bfloat16";
  check_alike(run_on_cpus(options, &pictures), run_on_gpus(options, &pictures), 0.03);
}

#endif
