// gpu_kernels --output=FOLDER [--capabilities=80,86,90,100]: compiles the GPU kernels that the
// bundled networks and optimizers launch, for programs to contain (CMake's DISTRIBUTE_CUDA_AOT).
// Needs NVRTC, but no GPU: training steps run on one that only writes down what it is given.
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/distribute.hpp>

#include <tests/support/fake_blas.hpp>
#include <tests/support/fake_cuda.hpp>
#include <tests/support/fake_cudnn.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

ABSL_FLAG(std::string, output, "", "folder for the kernels; made where it is missing");
ABSL_FLAG(std::vector<std::string>, capabilities,
          std::vector<std::string>({"80", "86", "90", "100"}),
          "compute capabilities of the GPUs, without the point");

namespace {

namespace dist = distribute;
namespace nn = distribute::nn;
namespace optim = distribute::optim;
using dist::Tensor;

using MakeModel = std::function<std::unique_ptr<nn::Module>()>;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

struct Network {
  MakeModel make;
  dist::Shape images;
};

std::unique_ptr<nn::Module> digits_model(int64_t kernel) {
  return std::make_unique<nn::Sequential>(
      nn::Conv2D({.filters = 16, .kernel_size = kernel, .activation = nn::relu}), nn::MaxPool2D(),
      nn::Conv2D({.filters = 16, .kernel_size = kernel, .padding = dist::Padding::Same}),
      nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 16, .activation = nn::relu}),
      nn::Dropout(0.5f), nn::Dense({.units = 10}));
}

/// Small forms of the bundled networks: the kernels do not depend on sizes.
std::vector<Network> networks() {
  return {
      {[] { return digits_model(5); }, {2, 28, 28, 1}},
      {[] {
         return std::make_unique<nn::applications::ResNet>(nn::applications::ResNetOptions{
             .blocks = {1, 1, 1, 1}, .classes = 10, .classifier_activation = nullptr});
       },
       {2, 32, 32, 3}},
      {[] { return std::make_unique<nn::applications::SmallResNet>(); }, {2, 16, 16, 3}},
      {[] {
         return std::make_unique<nn::applications::ResNet9>(
             nn::applications::ResNet9Options{.width = 8});
       },
       {2, 32, 32, 3}},
  };
}

std::vector<MakeOptimizer> optimizers() {
  return {
      [] { return std::make_unique<optim::SGD>(optim::SGDOptions{}); },
      [] {
        return std::make_unique<optim::SGD>(optim::SGDOptions{
            .momentum = 0.9, .nesterov = true, .weight_decay = 1e-4, .global_clipnorm = 1.0});
      },
      [] { return std::make_unique<optim::Adam>(optim::AdamOptions{.use_ema = true}); },
      [] {
        return std::make_unique<optim::Adam>(
            optim::AdamOptions{.amsgrad = true, .weight_decay = 1e-2});
      },
      [] { return std::make_unique<optim::RMSprop>(optim::RMSpropOptions{}); },
      [] {
        return std::make_unique<optim::RMSprop>(
            optim::RMSpropOptions{.momentum = 0.9, .centered = true});
      },
      [] { return std::make_unique<optim::Adagrad>(optim::AdagradOptions{}); },
      [] { return std::make_unique<optim::Nadam>(optim::NadamOptions{}); },
      [] { return std::make_unique<optim::Adamax>(optim::AdamaxOptions{}); },
      [] { return std::make_unique<optim::Adadelta>(optim::AdadeltaOptions{}); },
      [] { return std::make_unique<optim::Lion>(optim::LionOptions{}); },
      [] { return std::make_unique<optim::Ftrl>(optim::FtrlOptions{}); },
  };
}

/// What the bundled trainers do in a step, and in a test.
void train(nn::Module& model, optim::Optimizer& optimizer, const Tensor& images,
           const Tensor& labels) {
  dist::GradientTape tape;
  const Tensor logits = model(images, {.training = true});
  const Tensor losses = nn::sparse_categorical_crossentropy(
      labels, logits, {.from_logits = true, .label_smoothing = 0.1f});
  Tensor loss = nn::compute_average_loss(losses, 2);
  const auto penalties = model.losses();
  if (!penalties.empty()) loss = loss + nn::scale_regularization_loss(penalties);
  optimizer.minimize(loss, model.trainable_variables(), tape);
}

Tensor test(nn::Module& model, const Tensor& images, const Tensor& labels) {
  const Tensor logits = model(images);
  const Tensor losses = nn::sparse_categorical_crossentropy(labels, logits, {.from_logits = true});
  const auto count = [&](const Tensor& right) {
    return dist::reduce_sum(dist::cast(right, losses.dtype()));
  };
  return dist::stack({dist::reduce_sum(losses), count(nn::in_top_k(labels, logits, 5)),
                      count(dist::equal(dist::argmax(logits, -1), labels))},
                     0);
}

void run(const Network& network, const MakeOptimizer& make_optimizer) {
  dist::MirroredStrategy<dist::GpuDevice> strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const auto model = network.make();
  const auto optimizer = make_optimizer();
  const Tensor images = dist::zeros(network.images), labels{int64_t{1}, int64_t{2}};
  const auto sums = strategy.run([&] {
    const Tensor x = images.to(dist::current_device()), y = labels.to(dist::current_device());
    for (int step = 0; step < 2; ++step) train(*model, *optimizer, x, y);
    return test(*model, x, y);
  });
  strategy.reduce(dist::ReduceOp::Sum, sums);
}

/// Steps as CUDA graphs, which need a kernel of their own.
void run_recorded(const Network& network, const MakeOptimizer& make_optimizer) {
  dist::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const auto model = network.make();
  const auto optimizer = make_optimizer();
  const auto step =
      dist::function([&](const Tensor& x, const Tensor& y) { train(*model, *optimizer, x, y); });
  const Tensor images = dist::zeros(network.images), labels{int64_t{1}, int64_t{2}};
  while (step.launches() == 0 && step.problem().empty()) strategy.run(step, images, labels);
  if (!step.problem().empty()) throw dist::InternalError(step.problem());
}

using Run = void (*)(const Network&, const MakeOptimizer&);

std::set<std::string> texts_of(const std::string& policy, const Network& network,
                               const MakeOptimizer& make_optimizer, Run how = run) {
  using namespace distribute::testing;
  const FakeCuda fake({.runs_kernels = false});
  const dist::ScopedCudaBlas blas(FakeBlas::table());
#if DISTRIBUTE_HAS_CUDNN
  auto table = FakeCudnn::table();
  table.execute = [](cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) {
    return CUDNN_STATUS_SUCCESS;
  };
  const dist::cudnn_internal::ScopedCudnn dnn(table);
#endif
  nn::set_global_policy(policy);
  how(network, make_optimizer);
  const auto programs = fake.programs();
  return {programs.begin(), programs.end()};
}

std::set<std::string> all_texts() {
  std::set<std::string> texts;
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    for (const Network& network : networks())
      texts.merge(texts_of(policy, network, optimizers()[1]));
  for (const MakeOptimizer& make : optimizers())
    texts.merge(texts_of("float32", networks()[0], make));
  texts.merge(texts_of("float32", networks()[0], optimizers()[0], run_recorded));
  return texts;
}

void write(const std::filesystem::path& path, const std::string& code) {
  std::ofstream file(path, std::ios::binary);
  file << code;
  file.close();
  if (!file) throw dist::UnavailableError(dist::str_cat("cannot write ", path.string()));
}

int make_kernels(const std::filesystem::path& folder, const std::vector<int>& capabilities) {
  dist::CudaCompiler compiler;
  if (const auto problem = dist::load_cuda_compiler(compiler); !problem.empty())
    throw dist::UnavailableError(problem);
  std::filesystem::create_directories(folder);
  const auto texts = all_texts();
  for (const int capability : capabilities)
    for (const std::string& text : texts)
      write(folder / dist::kernel_file(text, capability),
            dist::compile_kernels(compiler, text, "kernels.cu", capability));
  std::printf("%zu kernels for %zu compute capabilities in %s\n", texts.size(), capabilities.size(),
              folder.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  distribute::check_flag_files(argc, argv);
  absl::ParseCommandLine(argc, argv);
  std::vector<int> capabilities;
  for (const std::string& text : absl::GetFlag(FLAGS_capabilities)) {
    capabilities.push_back(std::atoi(text.c_str()));
    if (capabilities.back() < 50)
      return std::fprintf(stderr, "gpu_kernels: --capabilities: '%s' is no compute capability\n",
                          text.c_str()),
             2;
  }
  if (absl::GetFlag(FLAGS_output).empty())
    return std::fprintf(stderr, "gpu_kernels: --output names no folder\n"), 2;
  return make_kernels(absl::GetFlag(FLAGS_output), capabilities);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gpu_kernels: %s\n", error.what());
  return 1;
}
