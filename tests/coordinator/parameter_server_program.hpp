#pragma once
/// The program of a job with a coordinator that survives what kill tests do to it.

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <tests/coordinator/processes.hpp>
#include <tests/support/source_dir.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

namespace processes {

inline const std::string kDigits = distribute::testing::source_dir() + "/examples/mnist_cnn/data";

inline void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// A small network for the bundled digits, trained by functions that a chief gives out.
class DigitsProgram {
 public:
  explicit DigitsProgram(Strategy& strategy) : strategy_(strategy) {}

  /// What every process does; gives the exit status.
  int run(const std::string& type, const std::string& directory, int64_t least_steps) {
    if (type != "chief") return Server(strategy_).join();
    model_(zeros({1, 28, 28, 1}));
    optimizer_.build(model_.trainable_variables());
    train::Checkpoint checkpoint(model_, optimizer_);
    train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 3});
    if (strategy_internal::parameter_server_extended(strategy_)->variables_are_new())
      if (manager.restore_latest()) say("restored " + std::to_string(optimizer_.iterations()));
    ClusterCoordinator coordinator(strategy_);
    const auto data = coordinator.create_per_worker_dataset([](const InputContext&) {
      return data::load_mnist(kDigits).shuffle(10'000).batch(50).repeat();
    });
    while (optimizer_.iterations() < least_steps ||
           !std::filesystem::exists(directory + "/may_end") ||
           coordinator.num_live_workers() < coordinator.num_workers()) {
      for (int i = 0; i < 30; ++i) coordinator.schedule(step_, data);
      coordinator.join();
      manager.save();
      say("saved at " + std::to_string(optimizer_.iterations()));
    }
    char line[80];
    std::snprintf(line, sizeof(line), "accuracy %.4f", accuracy());
    say(line);
    return 0;
  }

 private:
  double accuracy() {
    auto test = data::load_mnist(kDigits, {.split = data::Split::Test}).batch(500);
    int64_t right = 0, all = 0;
    for (const data::Batch& batch : test) {
      const Tensor logits = model_(batch.x);
      for (int64_t row = 0; row < batch.y.num_elements(); ++row, ++all) {
        const auto scores = logits.data<float>().subspan(size_t(row) * 10, 10);
        const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        right += best == batch.y.data<int64_t>()[size_t(row)];
      }
    }
    return double(right) / double(all);
  }

  Strategy& strategy_;
  nn::Sequential model_{nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}),
                        nn::Dense({.units = 10})};
  optim::Adam optimizer_{{.learning_rate = 1e-3}};
  RemoteFunction<int64_t(data::Iterator&)> step_{
      "step", [this](data::Iterator& it) {
        auto [x, y] = it.next();
        GradientTape tape;
        const auto loss = nn::compute_average_loss(
            nn::sparse_categorical_crossentropy(y, model_(x), {.from_logits = true}), 50);
        return optimizer_.apply_gradients(tape.gradient(loss, model_.trainable_variables()),
                                          model_.trainable_variables());
      }};
};

}  // namespace processes
