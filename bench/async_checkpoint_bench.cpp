// How much training slows down while a checkpoint of 100 MB is written in the background: steps
// with and without a save under way, in turns. Prints one JSON object.
// cmake --build --preset release --target async_checkpoint_bench &&
// build/release/bin/async_checkpoint_bench DIRECTORY [rounds], such as s3://bucket/bench, or
// build/release/bin/async_checkpoint_bench sink:MEGABYTES_PER_SECOND [rounds], an S3 server of its
// own that throws everything away and runs only while a core is idle
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>

#include "object_sink.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
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

/// Starts the sink behind s3:// of this process where the argument asks for it.
std::string start_sink(std::string directory, std::optional<ObjectSink>& sink) {
  if (!directory.starts_with("sink:")) return directory;
  sink.emplace(std::atof(directory.c_str() + 5) * 1e6);
  ::setenv("S3_ENDPOINT", sink->url().c_str(), 1);
  ::setenv("AWS_ACCESS_KEY_ID", "key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  ::setenv("AWS_REGION", "us-east-1", 1);
  return "s3://bucket/bench";
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: async_checkpoint_bench DIRECTORY|sink:MB_PER_SECOND [rounds]\n");
    return 2;
  }
  std::optional<ObjectSink> sink;
  const std::string directory = start_sink(argv[1], sink);
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
  std::vector<double> alone, beside, saves, calls, ratios;
  const auto timed_step = [&](std::vector<double>& times) {
    const double began = now();
    step();
    times.push_back(now() - began);
  };
  const auto steps_alone = [&] {
    std::vector<double> times;
    for (int i = 0; i < kSteps; ++i) timed_step(times);
    alone.insert(alone.end(), times.begin(), times.end());
    return mean(times);
  };
  double before = steps_alone();
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> during;
    std::atomic<double> ended{0};
    train::CheckpointOptions options{.enable_async = true};
    options.experimental_write_callbacks = {[&](const std::string&) { ended = now(); }};
    const double began = now();
    manager.save({}, true, options);
    calls.push_back(now() - began);
    while (ended == 0 && now() - began < 300) timed_step(during);  // sync() says why not
    manager.sync();
    saves.push_back(ended - began);
    beside.insert(beside.end(), during.begin(), during.end());
    // The call and the copies that the first update makes count, too.
    const double after = steps_alone();
    ratios.push_back((calls.back() + mean(during) * double(during.size())) /
                     (double(during.size()) * (before + after) / 2));
    before = after;
  }
  std::printf(
      "{\"megabytes\": %.1f, \"step_ms\": %.1f, \"step_ms_while_saving\": %.1f, "
      "\"mean_ms\": %.1f, \"mean_ms_while_saving\": %.1f, \"save_call_ms\": %.1f, "
      "\"save_seconds\": %.2f, \"steps_while_saving\": %zu, \"slowdown_percent\": %.1f, "
      "\"slowdown_percent_of_medians\": %.1f, \"server_cpu_seconds\": %.2f}\n",
      double(model.count_params()) * 4e-6, median(alone) * 1e3, median(beside) * 1e3,
      mean(alone) * 1e3, mean(beside) * 1e3, median(calls) * 1e3, median(saves), beside.size(),
      (median(ratios) - 1) * 100, (median(beside) / median(alone) - 1) * 100,
      sink ? sink->cpu_seconds() : 0.0);
  return 0;
}
