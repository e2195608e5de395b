// Two LSTMs of 256 units, 100 steps of 256 numbers, batch 64, trained by gradient descent;
// bench/peers/lstm_peer.py is the same in Keras and PyTorch, bench/peers/sequences.py times both.
// ./lstm_bench [--steps=N]
#include <distribute/distribute.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace distribute;

int main(int argc, char** argv) {
  const int steps =
      argc > 1 && std::strncmp(argv[1], "--steps=", 8) == 0 ? std::atoi(argv[1] + 8) : 50;
  nn::Sequential model(nn::LSTM({.units = 256, .return_sequences = true}), nn::LSTM({.units = 256}),
                       nn::Dense({.units = 10}));
  optim::SGD optimizer({.learning_rate = 0.01});
  const Tensor x = random::normal({64, 100, 256}, 1);
  const Tensor y = random::uniform_int({64}, 2, 0, 10);
  float last = 0;
  for (int step = 0; step < steps; ++step) {
    GradientTape tape;
    const Tensor losses =
        nn::sparse_categorical_crossentropy(y, model(x, {.training = true}), {.from_logits = true});
    const Tensor loss = reduce_mean(losses);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    last = loss.item<float>();
  }
  std::printf("loss %.4f\n", double(last));
}
