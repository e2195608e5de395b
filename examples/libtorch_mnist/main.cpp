// The MNIST example of libtorch as a distributed program. The lines that make it one end in
// "// distribute"; without them it trains the same network in one process.
//   libtorch_mnist DATA [EPOCHS [BATCHES]]
// DATA has MNIST's four files without .gz; BATCHES ends each epoch early.
//   distribute run -np 4 -- libtorch_mnist DATA
#include <distribute/torch/distributed_data_parallel.hpp>  // distribute
#include <distribute/torch/distributed_sampler.hpp>        // distribute

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace dist = distribute::torch;  // distribute

struct NetImpl : torch::nn::Module {
  NetImpl()
      : conv1(torch::nn::Conv2dOptions(1, 10, 5)),
        conv2(torch::nn::Conv2dOptions(10, 20, 5)),
        fc1(320, 50),
        fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop(conv2(x)), 2));
    x = torch::relu(fc1(x.view({-1, 320})));
    x = torch::dropout(x, 0.5, is_training());
    return torch::log_softmax(fc2(x), 1);
  }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1, fc2;
};
TORCH_MODULE(Net);

using MNIST = torch::data::datasets::MNIST;

auto prepared(const std::string& folder, MNIST::Mode mode) {
  return MNIST(folder, mode)
      .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
      .map(torch::data::transforms::Stack<>());
}

/// Prints the loss and the accuracy of the test pictures.
void test(Net& model, const std::string& folder) {
  const torch::NoGradGuard no_grad;
  model->eval();
  auto pictures = prepared(folder, MNIST::Mode::kTest);
  const auto size = double(pictures.size().value());
  auto loader = torch::data::make_data_loader(std::move(pictures), 1000);
  double loss = 0, right = 0;
  for (auto& batch : *loader) {
    const auto output = model(batch.data);
    loss += torch::nll_loss(output, batch.target, {}, at::Reduction::Sum).item<double>();
    right += double(output.argmax(1).eq(batch.target).sum().item<int64_t>());
  }
  std::printf("test loss %.4f accuracy %.4f\n", loss / size, right / size);
}

int train(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s DATA [EPOCHS [BATCHES]]\n", argv[0]), 2;
  const std::string folder = argv[1];
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 1;
  const int64_t batches = argc > 3 ? std::atoll(argv[3]) : 1'000'000;
  constexpr int64_t kGlobalBatch = 64;
  dist::init_process_group();                                        // distribute
  const int64_t batch_size = kGlobalBatch / dist::get_world_size();  // distribute
  torch::manual_seed(1 + dist::get_rank());                          // distribute
  Net model;
  dist::DistributedDataParallel ddp(model);  // distribute
  auto pictures = prepared(folder, MNIST::Mode::kTrain);
  dist::DistributedSampler sampler(pictures.size().value());  // distribute
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    model->train();
    sampler.set_epoch(uint64_t(epoch));  // distribute
    auto loader = torch::data::make_data_loader(pictures, sampler, size_t(batch_size));
    int64_t step = 0;
    for (auto& batch : *loader) {
      if (++step > batches) break;
      optimizer.zero_grad();
      auto loss = torch::nll_loss(ddp(batch.data), batch.target);  // distribute
      loss.backward();
      optimizer.step();
      if (step % 100 == 0 && dist::is_chief())  // distribute
        std::printf("epoch %d step %ld loss %.4f\n", epoch + 1, long(step), loss.item<double>());
    }
    if (dist::is_chief()) test(model, folder);  // distribute
  }
  dist::save(model, "libtorch_mnist.pt");  // distribute
  return 0;
}

int main(int argc, char** argv) {
  return dist::run_main([&] { return train(argc, argv); });  // distribute
}
