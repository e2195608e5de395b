/// TensorFlow's own runs followed step by step; tolerances are those of the reference data.

#include "parity_case.hpp"

using namespace parity;

namespace {

Task book_adam(size_t steps) {
  return {[] { return std::make_unique<nn::Sequential>(book_network()); },
          [] { return std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 1e-4}); },
          steps};
}

Task book_sgd(size_t steps) {
  return {[] { return std::make_unique<nn::Sequential>(book_network()); },
          [] { return std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.05}); },
          steps};
}

Task residual(const ResidualOptions& options, double rate, size_t steps) {
  return {[=] { return std::make_unique<SmallResNet>(options); },
          [=] {
            return std::make_unique<optim::SGD>(
                optim::SGDOptions{.learning_rate = rate, .momentum = 0.9});
          },
          steps};
}

Reference find(const std::string& name, const char* loss = "loss", const char* norm = "grad_norm") {
  return read_reference(reference_folder("parity", name), loss, norm);
}

}  // namespace

TEST_CASE("the book's network follows TensorFlow with Adam", "[parity][book][slow]") {
  const auto reference = find("book_cnn_adam");
  const Run run = train(reference, book_adam(180), 1);
  CHECK(loss_difference(run, reference, 0, 1) < 1e-5);
  check_step0_gradients(run, reference, 1e-5);
  CHECK(loss_difference(run, reference, 0, 3) < 1e-5);
  CHECK(loss_difference(run, reference, 0, 10) < 1e-4);
  CHECK(loss_difference(run, reference, 0, 180) < 5e-2);
  CHECK(last_mean_difference(run, reference) < 1e-2);
  CHECK(final_difference(run, reference) < 2e-2);
  CHECK(std::abs(run.test_accuracy - reference.test_accuracy) <= 0.01);
}

TEST_CASE("the book's network follows TensorFlow on 2 and 4 replicas", "[parity]") {
  const auto reference = find("book_cnn_adam");
  for (int replicas : {2, 4}) {
    INFO(replicas << " replicas");
    const Run run = train(reference, book_adam(10), replicas);
    check_step0_gradients(run, reference, 1e-5);
    CHECK(loss_difference(run, reference, 0, 3) < 1e-5);
    CHECK(loss_difference(run, reference, 0, 10) < 1e-4);
  }
}

TEST_CASE("the residual network without kinks follows TensorFlow closely", "[parity][residual]") {
  const auto reference = find("small_resnet_smooth");
  for (int replicas : {1, 2, 4}) {
    INFO(replicas << " replicas");
    const ResidualOptions options{nn::tanh, 0.9, replicas > 1};
    const Run run = train(reference, residual(options, 0.02, 60), replicas);
    CHECK(loss_difference(run, reference, 0, 1) < 1e-5);
    check_step0_gradients(run, reference, 5e-4);
    CHECK(loss_difference(run, reference, 0, 10) < 2e-5);
    CHECK(loss_difference(run, reference, 0, 60) < 2e-4);
    CHECK(last_mean_difference(run, reference) < 1e-4);
    if (replicas == 1) CHECK(final_difference(run, reference) < 5e-4);
    if (replicas == 1) CHECK(std::abs(run.test_accuracy - reference.test_accuracy) <= 0.003);
  }
}

TEST_CASE("the residual network with ReLU follows TensorFlow", "[parity]") {
  const auto reference = find("small_resnet_momentum");
  for (int replicas : {1, 2, 4}) {
    INFO(replicas << " replicas");
    ResidualOptions options;
    options.synchronized = replicas > 1;
    // Kinks make later steps differ by chance: one whole run is enough.
    const size_t steps = replicas == 1 ? 60 : 10;
    const Run run = train(reference, residual(options, 0.05, steps), replicas);
    CHECK(loss_difference(run, reference, 0, 1) < 1e-5);
    check_step0_gradients(run, reference, 1e-2);
    CHECK(loss_difference(run, reference, 0, 3) < 2e-4);
    CHECK(loss_difference(run, reference, 0, 10) < 3e-2);
    if (steps < 60) continue;
    CHECK(last_mean_difference(run, reference) < 1e-1);
    CHECK(final_difference(run, reference) < 3e-1);
  }
}

TEST_CASE("the book's network follows TensorFlow's single process with SGD", "[parity][book]") {
  const auto reference =
      find("two_workers_book_cnn_sgd", "single_process_loss", "single_process_grad_norm");
  for (int replicas : {1, 2, 4}) {
    INFO(replicas << " replicas");
    const size_t steps = replicas == 4 ? 10 : 40;
    const Run run = train(reference, book_sgd(steps), replicas);
    check_step0_gradients(run, reference, 1e-5);
    CHECK(loss_difference(run, reference, 0, 10) < 1e-5);
    if (steps < 40) continue;
    CHECK(loss_difference(run, reference, 0, 40) < 2e-2);
    CHECK(last_mean_difference(run, reference) < 2e-3);
    CHECK(final_difference(run, reference) < 1e-2);
    CHECK(std::abs(run.test_accuracy - reference.test_accuracy) <= 0.02);
  }
}

TEST_CASE("two runs with the same number of threads give the same bits", "[parity]") {
  const auto reference = find("book_cnn_adam");
  for (int replicas : {1, 2}) {
    const Run first = train(reference, book_adam(5), replicas);
    const Run second = train(reference, book_adam(5), replicas);
    CHECK(first.loss == second.loss);
    CHECK(first.final_weights == second.final_weights);
  }
}
