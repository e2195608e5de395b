#include <cstdio>
#include <distribute/strategy.hpp>
#include <string>
namespace dist = distribute;
namespace nn = dist::nn;

void train_and_test() {
  dist::MirroredStrategy strategy;  // every logical CPU device; one by default
  const int64_t global_batch = 64 * strategy.num_replicas_in_sync();
  const std::string digits = "examples/mnist_cnn/data";
  auto train = strategy.experimental_distribute_dataset(
      dist::data::load_mnist(digits).shuffle(9'000).batch(global_batch));
  auto test = strategy.experimental_distribute_dataset(
      dist::data::load_mnist(digits, {.split = dist::data::Split::Test}).batch(global_batch));

  const auto scope = strategy.scope();  // with strategy.scope():
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05f, .momentum = 0.9f});
  nn::metrics::SparseCategoricalAccuracy accuracy;
  dist::train::Checkpoint checkpoint(model, optimizer);

  auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    auto logits = model(batch.x, {.training = true});
    auto losses = nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    auto loss = nn::compute_average_loss(losses, global_batch);
    auto grads = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(grads, model.trainable_variables());  // all-reduces
    return loss;
  };
  auto test_step = [&](const dist::data::Batch& batch) {
    accuracy.update_state(batch.y, model(batch.x));  // counts for all replicas
  };

  for (int epoch = 0; epoch < 3; ++epoch) {
    float total = 0;
    int batches = 0;
    for (auto batch : train) {
      auto losses = strategy.run(train_step, batch);  // PerReplica<Tensor>
      total += strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
      ++batches;
    }
    accuracy.reset_state();
    for (auto batch : test) strategy.run(test_step, batch);
    std::printf("epoch %d loss %.4f, test accuracy %.3f\n", epoch, total / batches,
                accuracy.result().item<float>());
    checkpoint.save("ckpt/mnist");
  }
}

int main() { return dist::run_main(train_and_test); }  // an error is one line and a status
