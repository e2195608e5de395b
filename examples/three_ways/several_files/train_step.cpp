#include "train_step.hpp"

#include <distribute/strategy.hpp>

namespace nn = distribute::nn;

distribute::Tensor train_step(nn::Sequential& model, distribute::optim::SGD& optimizer,
                              const distribute::data::Batch& batch, int64_t global_batch) {
  distribute::GradientTape tape;
  const auto logits = model(batch.x, {.training = true});
  const auto losses = nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
  const auto loss = nn::compute_average_loss(losses, global_batch);
  optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()),
                            model.trainable_variables());  // all-reduces
  return loss;
}
