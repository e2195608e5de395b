// How much training slows down while a checkpoint of 100 MB is written in the background: steps
// with and without a save under way, in turns. Prints one JSON object.
// cmake --build --preset release --target async_checkpoint_bench &&
// build/release/bin/async_checkpoint_bench DIRECTORY [rounds], such as s3://bucket/bench
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/unary.hpp>
#include <distribute/optim/sgd.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

using namespace distribute;

namespace {

constexpr int64_t kUnits = 2236, kBatch = 64;  // five layers of 20 MB
constexpr int kSteps = 12;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: async_checkpoint_bench DIRECTORY [rounds]\n");
    return 2;
  }
  const std::string directory = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const auto layer = [] { return nn::Dense({.units = kUnits}); };
  nn::Sequential model(layer(), layer(), layer(), layer(), layer());
  optim::SGD optimizer({.learning_rate = 1e-6f});
  const Tensor x = fill(Shape{kBatch, kUnits}, 0.01f);
  const auto step = [&] {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(model(x)));
    optimizer.minimize(loss, model.trainable_variables(), tape);
  };
  for (int i = 0; i < 4; ++i) step();
  train::Checkpoint checkpoint(model);
  train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 1});
  std::vector<double> alone, beside, saves, calls;
  const auto timed_step = [&](std::vector<double>& times) {
    const double began = now();
    step();
    times.push_back(now() - began);
  };
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kSteps; ++i) timed_step(alone);
    std::atomic<double> ended{0};
    train::CheckpointOptions options{.enable_async = true};
    options.experimental_write_callbacks = {[&](const std::string&) { ended = now(); }};
    const double began = now();
    manager.save({}, true, options);
    calls.push_back(now() - began);
    while (ended == 0 && now() - began < 300) timed_step(beside);  // sync() says why not
    manager.sync();
    saves.push_back(ended - began);
  }
  std::printf(
      "{\"megabytes\": %.1f, \"step_ms\": %.1f, \"step_ms_while_saving\": %.1f, "
      "\"mean_ms\": %.1f, \"mean_ms_while_saving\": %.1f, \"save_call_ms\": %.1f, "
      "\"save_seconds\": %.2f, \"steps_while_saving\": %zu, \"slowdown_percent\": %.1f}\n",
      double(model.count_params()) * 4e-6, median(alone) * 1e3, median(beside) * 1e3,
      mean(alone) * 1e3, mean(beside) * 1e3, median(calls) * 1e3, median(saves), beside.size(),
      (median(beside) / median(alone) - 1) * 100);
  return 0;
}
