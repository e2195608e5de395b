#pragma once
/// Counter-based random numbers, which depend on seed and position alone and not on threads.

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
/// Gives a new seed for an initializer or layer without one: the n-th call since set_seed() gives
/// the same value in every process. Thread-safe.
uint64_t next_seed();

/// Gives four random words from a counter and a key.
/// Source  Philox 4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key);

struct UniformOptions {  // options of uniform()
  double minval = 0;
  double maxval = 1;  // exclusive
  int64_t first = 0;  // element i of the result is element first + i of the seed
};
struct NormalOptions {  // options of normal()
  double mean = 0;
  double stddev = 1;
  int64_t first = 0;
};

/// These give float32 tensors. Element i of a seed is the same for every shape with more than i
/// elements.
/// Source  tf.random.stateless_uniform, stateless_normal, stateless_truncated_normal
Tensor uniform(const Shape& shape, uint64_t seed, const UniformOptions& options = {});
Tensor normal(const Shape& shape, uint64_t seed, const NormalOptions& options = {});
/// Redraws values beyond two standard deviations.
Tensor truncated_normal(const Shape& shape, uint64_t seed, const NormalOptions& options = {});
/// Gives int64 numbers in [minval, maxval).
Tensor uniform_int(const Shape& shape, uint64_t seed, int64_t minval, int64_t maxval);
/// These draw anew at each call, with next_seed(): the n-th call after set_seed() gives the same
/// numbers in every run. A recorded step draws once; give it the seeds.
/// Source  tf.random.uniform, normal, truncated_normal
Tensor uniform(const Shape& shape, const UniformOptions& options = {});
Tensor normal(const Shape& shape, const NormalOptions& options = {});
Tensor truncated_normal(const Shape& shape, const NormalOptions& options = {});

/// Draws class numbers, int64, with probabilities softmax(logits).
/// Shapes  logits [batch, classes] -> [batch, num_samples].
/// Throws  InvalidArgumentError for other shapes and no classes.
/// Source  tf.random.categorical, stateless_categorical
Tensor categorical(const Tensor& logits, int64_t num_samples, uint64_t seed);

}  // namespace random

namespace nn {
/// Sets each element to 0 with probability `rate` and scales the others by 1 / (1 - rate). The mask
/// depends on seed, counter (such as the step) and position alone. Rate 0 gives x itself.
/// Throws  InvalidArgumentError for a rate outside [0, 1) or a dtype that is not floating.
/// Source  tf.nn.dropout
Tensor dropout(const Tensor& x, float rate, uint64_t seed, uint64_t counter = 0);
/// Does the same with the counter that `counter` returns. A recorded step calls it at every launch;
/// otherwise it is called once.
Tensor dropout(const Tensor& x, float rate, uint64_t seed,
               const std::function<uint64_t()>& counter);
}  // namespace nn

}  // namespace distribute
