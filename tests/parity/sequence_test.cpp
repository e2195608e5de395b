/// TensorFlow's runs of sequence and generative models followed step by step; tolerances are those
/// of the reference data.

#include "sequence_case.hpp"

using namespace parity;

namespace {

Reference find_sequence(const std::string& name) {
  Reference reference;
  reference.folder = reference_folder("parity_sequence", name);
  reference.batch = read_json(reference.folder + "/case.json")["batch"];
  const auto step0 = read_json(reference.folder + "/step0.json");
  for (const auto& [tensor, gradient] : step0["float32"]["gradients"].items())
    reference.step0_gradients[tensor] = gradient["l2_norm"];
  read_curves(reference, "loss", "grad_norm");
  return reference;
}

struct Tolerances {
  double all_losses, grad_norm;
};

/// Every column of the data's table of tolerances; runs of fewer steps leave out the last ones.
void check_run(const SequenceRun& run, const Reference& reference, const Tolerances& tolerances) {
  CHECK(loss_difference(run, reference, 0, 1) < 1e-5);
  check_gradients(run, reference, 1e-5);
  CHECK(loss_difference(run, reference, 0, 10) < 1e-5);
  CHECK(loss_difference(run, reference, 0, run.loss.size()) < tolerances.all_losses);
  CHECK(norm_difference(run.grad_norm, reference.grad_norm) < tolerances.grad_norm);
  if (run.loss.size() < reference.loss.size()) return;
  CHECK(last_mean_difference(run, reference) < 1e-5);
  CHECK(trained_difference(run, reference.folder + "/final") < 2e-5);
  const auto eval = read_json(reference.folder + "/eval.json");
  CHECK(relative(run.test_loss, eval["test_loss"].get<double>()) < 5e-5);
  CHECK(std::abs(run.test_correct - eval["test_correct"].get<int64_t>()) <= 1);
}

/// All steps on one replica, and some on two and four.
void follow(const Reference& reference, SequenceTask task, const Tolerances& tolerances) {
  for (const int replicas : {1, 2, 4}) {
    INFO(replicas << " replicas");
    check_run(train(reference, task, replicas), reference, tolerances);
    task.batches.resize(std::min<size_t>(task.batches.size(), 12));
  }
}

}  // namespace

TEST_CASE("a decoder with AdamW, a schedule and clipping follows TensorFlow", "[parity]") {
  const auto reference = find_sequence("text_transformer_adamw");
  SequenceTask task;
  task.batches = text_batches(Corpus(*shared_data("parity_sequence")), 120, task.test);
  task.network = [] { return std::make_unique<DecoderOnly>(); };
  task.optimizer = []() -> std::unique_ptr<optim::Optimizer> {
    auto adam = std::make_unique<optim::AdamW>(
        optim::AdamWOptions{.learning_rate = optim::CosineDecay{.initial_learning_rate = 1e-4,
                                                                .decay_steps = 100,
                                                                .alpha = 0.1,
                                                                .warmup_target = 2e-3,
                                                                .warmup_steps = 20},
                            .weight_decay = 0.05,
                            .global_clipnorm = 1.0});
    adam->exclude_from_weight_decay({"bias", "gamma", "beta"});
    return adam;
  };
  follow(reference, task, {2e-5, 1e-4});
}

TEST_CASE("an encoder with padding follows TensorFlow", "[parity]") {
  const auto reference = find_sequence("encoder_classifier_padding");
  SequenceTask task;
  task.batches = line_batches(Corpus(*shared_data("parity_sequence")), 80, task.test);
  task.network = [] { return std::make_unique<Encoder>(); };
  task.optimizer = []() { return std::make_unique<optim::Adam>(); };
  follow(reference, task, {2e-5, 1e-4});
}

TEST_CASE("an LSTM follows TensorFlow", "[parity]") {
  const auto reference = find_sequence("rows_lstm_sgd");
  SequenceTask task;
  task.batches = row_batches(50, 120, task.test);
  task.network = [] { return std::make_unique<nn::Sequential>(lstm_network()); };
  task.optimizer = [] {
    return std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.03, .momentum = 0.9});
  };
  follow(reference, task, {5e-5, 2e-4});
}

TEST_CASE("masked GRUs in both directions follow TensorFlow", "[parity]") {
  const auto reference = find_sequence("rows_gru_bidirectional");
  SequenceTask task;
  task.batches = row_batches(32, 100, task.test);
  task.network = [] { return std::make_unique<nn::Sequential>(gru_network()); };
  task.optimizer = [] {
    return std::make_unique<optim::RMSprop>(optim::RMSpropOptions{.learning_rate = 2e-3});
  };
  follow(reference, task, {2e-5, 1e-4});
}
