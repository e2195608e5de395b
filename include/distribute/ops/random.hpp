#pragma once
/// Counter-based random numbers: a function of seed and position alone, whatever the threads do.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <functional>

namespace distribute {

namespace random {

/// Sets the process's seed; next_seed() starts again from it. Without it the seed is 0, so every
/// run and every task draws the same numbers.
/// Source  tf.random.set_seed
void set_seed(uint64_t seed);
/// A fresh seed for an initializer or layer that was given none: the n-th call since set_seed
/// gives the same value in every process. Thread-safe.
uint64_t next_seed();

/// Four random words from a counter and a key.
/// Source  Philox 4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key);

struct UniformOptions {  // options of uniform()
  double minval = 0;
  double maxval = 1;  // not reached
  int64_t first = 0;  // element i of the result is element first + i of the seed
};
struct NormalOptions {  // options of normal()
  double mean = 0;
  double stddev = 1;
  int64_t first = 0;
};

/// float32 tensors; element i of a seed is the same for every shape with more than i elements.
/// Source  tf.random.stateless_uniform, stateless_normal, stateless_truncated_normal
Tensor uniform(const Shape& shape, uint64_t seed, const UniformOptions& options = {});
Tensor normal(const Shape& shape, uint64_t seed, const NormalOptions& options = {});
/// Values beyond two standard deviations are drawn again.
Tensor truncated_normal(const Shape& shape, uint64_t seed, const NormalOptions& options = {});
/// int64 numbers in [minval, maxval).
Tensor uniform_int(const Shape& shape, uint64_t seed, int64_t minval, int64_t maxval);
/// Draws of class numbers, int64, with probabilities softmax(logits).
/// Shapes  logits [batch, classes] -> [batch, num_samples].
/// Throws  InvalidArgumentError for other shapes and no classes.
/// Source  tf.random.categorical, stateless_categorical
Tensor categorical(const Tensor& logits, int64_t num_samples, uint64_t seed);

}  // namespace random

namespace nn {
/// Sets each element to 0 with probability `rate` and scales the others by 1 / (1 - rate). The
/// mask depends on seed, counter (the step, say) and position alone. Rate 0 gives x itself.
/// Throws  InvalidArgumentError for a rate outside [0, 1) or a dtype that is not floating.
/// Source  tf.nn.dropout
Tensor dropout(const Tensor& x, float rate, uint64_t seed, uint64_t counter = 0);
/// The same with a counter that is asked for at every launch of a step that is being recorded, and
/// otherwise once.
Tensor dropout(const Tensor& x, float rate, uint64_t seed,
               const std::function<uint64_t()>& counter);
}  // namespace nn

}  // namespace distribute
