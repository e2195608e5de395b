// Images per second of a libtorch network under torch::DistributedDataParallel, for
// bench/peers/torch_ddp_peer.py, which does the same with PyTorch's DDP over Gloo. Start it by
// distribute run -np N -- torch_ddp_bench [SECONDS]; rank 0 prints one JSON line.
#include <distribute/torch/distributed_data_parallel.hpp>

#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace dist = distribute::torch;

namespace {

constexpr int64_t kBatch = 32;

torch::nn::Sequential network() {
  using torch::nn::Conv2d, torch::nn::Conv2dOptions, torch::nn::Linear, torch::nn::ReLU;
  return torch::nn::Sequential(Conv2d(Conv2dOptions(1, 32, 5).padding(2)), ReLU(),
                               torch::nn::MaxPool2d(2), Conv2d(Conv2dOptions(32, 64, 5).padding(2)),
                               ReLU(), torch::nn::MaxPool2d(2), torch::nn::Flatten(),
                               Linear(64 * 7 * 7, 500), ReLU(), Linear(500, 10));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int measure(double seconds) {
  torch::set_num_threads(1);
  dist::init_process_group();
  dist::DistributedDataParallel ddp(network());
  torch::optim::SGD optimizer(ddp.parameters(), 0.01);
  const auto x = torch::randn({kBatch, 1, 28, 28});
  const auto y = torch::randint(10, {kBatch});
  const auto steps = [&](int64_t count) {
    const double began = seconds_now();
    for (int64_t step = 0; step < count; ++step) {
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(ddp(x), y).backward();
      optimizer.step();
    }
    return seconds_now() - began;
  };
  steps(5);
  auto count = torch::tensor({int64_t(5 * seconds / steps(5)) + 1});
  dist::broadcast(count);
  const double took = steps(count.item<int64_t>());
  const double images = double(count.item<int64_t>() * kBatch * dist::get_world_size());
  if (dist::is_chief())
    std::printf("{\"transport\": \"%s\", \"images_per_second\": %.1f}\n",
                dist::get_transport().c_str(), images / took);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return dist::run_main([&] { return measure(argc > 1 ? std::atof(argv[1]) : 5); });
}
