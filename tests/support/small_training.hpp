#pragma once
/// A training whose result is compared bit by bit between strategies.

#include <distribute/strategy.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// How large the gradients are, and for how long.
struct SmallTraining {
  int64_t units = 40;
  int steps = 15;
};

/// The bits of all weights after steps of Adam with a global batch of 30, as text.
inline std::string bits_of_training(distribute::Strategy& strategy, SmallTraining training = {}) {
  using namespace distribute;
  const auto scope = strategy.scope();
  random::set_seed(5);
  nn::Sequential model(nn::Dense({.units = training.units, .activation = nn::relu}),
                       nn::Dense({.units = 3}));
  optim::Adam optimizer({.learning_rate = 0.01f});
  std::vector<float> x(30 * 9);
  std::vector<int64_t> y(30);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  for (size_t i = 0; i < y.size(); ++i) y[i] = int64_t(i % 3);
  auto dataset = strategy.experimental_distribute_dataset(
      data::Dataset::from_tensor_slices(Tensor(Shape{30, 9}, x), Tensor(Shape{30}, y))
          .repeat()
          .batch(30));
  auto iterator = dataset.iterator();
  for (int step = 0; step < training.steps; ++step)
    strategy.run(
        [&](const data::Batch& batch) {
          GradientTape tape;
          const auto logits = model(batch.x, {.training = true});
          const auto losses =
              nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
          optimizer.minimize(nn::compute_average_loss(losses, 30), model.trainable_variables(),
                             tape);
        },
        iterator.get_next());
  std::string bits;
  for (const Variable& variable : model.trainable_variables())
    for (float w : variable.value().to_vector()) {
      uint32_t word = 0;
      std::memcpy(&word, &w, sizeof word);
      bits += str_cat(word, " ");
    }
  return bits;
}
