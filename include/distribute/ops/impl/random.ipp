#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/draw_log.hpp>
#include <distribute/ops/detail/global_seed.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distribute {

namespace ops_internal {

/// The words of a counter: the group of four elements, and the draw.
struct PhiloxCounter {
  uint32_t words[4];
};

/// Computes ten rounds; it is inlined into loops that vectorise.
DISTRIBUTE_ALWAYS_INLINE inline PhiloxCounter philox_rounds(PhiloxCounter c, uint32_t key_0,
                                                            uint32_t key_1) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const uint64_t product_0 = uint64_t{0xd2511f53u} * c.words[0];
    const uint64_t product_1 = uint64_t{0xcd9e8d57u} * c.words[2];
    c = {{uint32_t(product_1 >> 32) ^ c.words[1] ^ key_0, uint32_t(product_1),
          uint32_t(product_0 >> 32) ^ c.words[3] ^ key_1, uint32_t(product_0)}};
    key_0 += 0x9e3779b9u;
    key_1 += 0xbb67ae85u;
  }
  return c;
}

/// Makes draw `counter` of groups [group, group + kGroups): words[4 g + w] is word w of group g.
inline constexpr int64_t kGroups = 64;
DISTRIBUTE_INLINE void philox_block(uint64_t seed, uint64_t counter, int64_t group,
                                    uint32_t* words) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < kGroups; ++i) {
      const uint64_t at = uint64_t(group + i);
      const PhiloxCounter drawn = philox_rounds(
          {{uint32_t(at), uint32_t(at >> 32), uint32_t(counter), uint32_t(counter >> 32)}},
          uint32_t(seed), uint32_t(seed >> 32));
      for (int w = 0; w < 4; ++w) words[4 * i + w] = drawn.words[w];
    }
  });
}

/// Calls part(words, begin, count) on pieces of [0, count) with one random word per element.
template <typename Part>
void for_random_words(int64_t count, uint64_t seed, uint64_t counter, const Part& part) {
  constexpr int64_t kWords = 4 * kGroups;
  parallel_for((count + kWords - 1) / kWords, 8, [&](int64_t begin, int64_t end) {
    uint32_t words[kWords];
    for (int64_t block = begin; block < end; ++block) {
      philox_block(seed, counter, block * kGroups, words);
      part(words, block * kWords, std::min(kWords, count - block * kWords));
    }
  });
}

/// Calls part(words, word, i) for elements first + i of a seed, i in [0, count). words[word] is the
/// element's random word; its neighbour's word is the next one.
template <typename Part>
void for_random_window(int64_t first, int64_t count, uint64_t seed, const Part& part) {
  constexpr int64_t kWords = 4 * kGroups;
  const int64_t low = first / kWords, high = (first + count + kWords - 1) / kWords;
  parallel_for(count ? high - low : 0, 8, [&](int64_t begin, int64_t end) {
    uint32_t words[kWords];
    for (int64_t block = low + begin; block < low + end; ++block) {
      philox_block(seed, 0, block * kGroups, words);
      const int64_t from = std::max(first, block * kWords);
      const int64_t to = std::min(first + count, (block + 1) * kWords);
      for (int64_t i = from; i < to; ++i) part(words, i - block * kWords, i - first);
    }
  });
}

/// Gives a number in [0, 1) with 24 bits.
DISTRIBUTE_ALWAYS_INLINE inline float unit(uint32_t word) { return float(word >> 8) * 0x1p-24f; }

/// Makes two normal numbers from two words (Box and Muller, 1958).
DISTRIBUTE_INLINE std::array<float, 2> box_muller(uint32_t first, uint32_t second) {
  const float radius = std::sqrt(-2 * std::log(1 - unit(first)));
  const float angle = 2 * std::numbers::pi_v<float> * unit(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Draws from element i's own sequence until a number is within two standard deviations.
DISTRIBUTE_INLINE float truncated_draw(uint64_t seed, int64_t element) {
  for (uint32_t attempt = 0;; ++attempt) {
    const auto words =
        random::philox({uint32_t(element), uint32_t(element >> 32), attempt, 1}, seed);
    for (int pair = 0; pair < 4; pair += 2)
      for (float value : box_muller(words[size_t(pair)], words[size_t(pair + 1)]))
        if (std::abs(value) <= 2) return value;
  }
}

/// Makes a tensor of random numbers; `on_cpu` fills one in host memory.
template <typename OnCpu>
Tensor drawn(const Shape& shape, DType dtype, const GpuRandom& random, const OnCpu& on_cpu) {
  Tensor result = Tensor::empty(shape, dtype);
  if (on_gpu(result))
    gpu_random(random, {}, result);
  else
    on_cpu(result);
  return result;
}

/// Identifies a mask. In a recorded step the counter is on the GPU, at `current`.
struct DropoutMask {
  float rate;
  uint64_t seed, counter;
  const uint64_t* current = nullptr;
};

/// Gives x or 0, scaled. The mask is drawn again for the gradient instead of being stored.
DISTRIBUTE_INLINE Tensor dropped(const Tensor& x, const DropoutMask& mask) {
  const auto [rate, seed, counter, current] = mask;
  if (on_gpu(x)) {
    Tensor result = Tensor::empty(x.shape(), x.dtype(), x.device());
    gpu_random(
        {.function = "dropout", .seed = seed, .counter = counter, .a = rate, .current = current}, x,
        result);
    return result;
  }
  const Tensor from = converted(x, DType::Float32).row_major();
  Tensor y = Tensor::empty(x.shape(), DType::Float32, x.device());
  const float *values = from.data<float>().data(), scale = 1 / (1 - rate);
  float* out = y.mutable_data<float>();
  for_random_words(x.num_elements(), seed, counter,
                   [=, rate = mask.rate](const uint32_t* words, int64_t begin, int64_t count) {
#pragma omp simd
                     for (int64_t i = 0; i < count; ++i)
                       out[begin + i] = unit(words[i]) < rate ? 0.0f : values[begin + i] * scale;
                   });
  return converted(y, x.dtype());
}

DISTRIBUTE_INLINE Tensor dropout(const Tensor& x, const DropoutMask& mask) {
  if (!(mask.rate >= 0 && mask.rate < 1))
    throw InvalidArgumentError(str_cat("dropout: the rate must lie in [0, 1), got ", mask.rate));
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat("dropout: wants a floating dtype, got ", name_of(x.dtype())));
  if (mask.rate == 0) return x;
  return record("dropout", {x}, dropped(x, mask), [=](const Backward& b) -> std::vector<Tensor> {
    return {dropout(b.gradient(), mask)};
  });
}

}  // namespace ops_internal

namespace random {

DISTRIBUTE_INLINE void set_seed(uint64_t seed) {
  // next_seed() counts up from here, so seeds 1, 2, 3 must not give overlapping sequences.
  const auto start = philox({1, 0, 0, 0}, seed);
  ops_internal::global_seed() = seed ? uint64_t{start[0]} << 32 | start[1] : 0;
}

DISTRIBUTE_INLINE uint64_t next_seed() {
  autograd_internal::refuse_in_recording("a seed is drawn");
  const uint64_t count = ops_internal::global_seed().fetch_add(1);
  const auto words = philox({0, 0, 0, 0}, count);
  return uint64_t{words[0]} << 32 | words[1];
}

DISTRIBUTE_INLINE std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
  const auto drawn = ops_internal::philox_rounds({{counter[0], counter[1], counter[2], counter[3]}},
                                                 uint32_t(key), uint32_t(key >> 32));
  return {drawn.words[0], drawn.words[1], drawn.words[2], drawn.words[3]};
}

DISTRIBUTE_INLINE Tensor uniform(const Shape& shape, uint64_t seed, const UniformOptions& options) {
  using namespace ops_internal;
  const float low = float(options.minval), width = float(options.maxval) - low;
  const auto on_cpu = [&](Tensor& result) {
    float* out = result.mutable_data<float>();
    for_random_window(options.first, shape.num_elements(), seed,
                      [=](const uint32_t* words, int64_t word, int64_t i) {
                        out[i] = low + width * unit(words[word]);
                      });
  };
  return drawn(shape, DType::Float32, {"uniform", seed, 0, low, width, 0, 0, options.first},
               on_cpu);
}

DISTRIBUTE_INLINE Tensor normal(const Shape& shape, uint64_t seed, const NormalOptions& options) {
  using namespace ops_internal;
  const float mean = float(options.mean), stddev = float(options.stddev);
  const auto on_cpu = [&](Tensor& result) {
    float* out = result.mutable_data<float>();
    for_random_window(options.first, shape.num_elements(), seed,
                      [=](const uint32_t* words, int64_t word, int64_t i) {
                        const auto pair = box_muller(words[word & ~1], words[word | 1]);
                        out[i] = mean + stddev * pair[size_t(word & 1)];
                      });
  };
  return drawn(shape, DType::Float32, {"normal", seed, 0, mean, stddev, 0, 0, options.first},
               on_cpu);
}

DISTRIBUTE_INLINE Tensor truncated_normal(const Shape& shape, uint64_t seed,
                                          const NormalOptions& options) {
  using namespace ops_internal;
  const float mean = float(options.mean), stddev = float(options.stddev);
  const int64_t first = options.first;
  const auto on_cpu = [&](Tensor& result) {
    float* out = result.mutable_data<float>();
    parallel_for(shape.num_elements(), 1024, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = mean + stddev * truncated_draw(seed, first + i);
    });
  };
  return drawn(shape, DType::Float32, {"truncated_normal", seed, 0, mean, stddev, 0, 0, first},
               on_cpu);
}

DISTRIBUTE_INLINE Tensor uniform_int(const Shape& shape, uint64_t seed, int64_t minval,
                                     int64_t maxval) {
  if (minval >= maxval)
    throw InvalidArgumentError(str_cat("uniform_int: no integers in [", minval, ", ", maxval, ")"));
  const uint64_t width = uint64_t(maxval) - uint64_t(minval);
  const auto on_cpu = [&](Tensor& result) {
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      const auto words = philox({uint32_t(i), uint32_t(i >> 32), 0, 2}, seed);
      const uint64_t word = uint64_t{words[0]} << 32 | words[1];
      result.mutable_data<int64_t>()[i] = int64_t(uint64_t(minval) + word % width);
    }
  };
  return ops_internal::drawn(shape, DType::Int64, {"uniform_int", seed, 0, 0, 0, minval, width},
                             on_cpu);
}

/// Gives the position of the largest of logits plus Gumbel noise, which is distributed as
/// softmax(logits).
DISTRIBUTE_INLINE Tensor categorical(const Tensor& logits, int64_t num_samples, uint64_t seed) {
  if (logits.shape().rank() != 2 || logits.shape()[1] == 0 || num_samples < 0)
    throw InvalidArgumentError(str_cat("categorical: wanted logits [batch, classes], got ",
                                       to_string(logits.shape()), " for ", num_samples, " draws"));
  const int64_t batch = logits.shape()[0], classes = logits.shape()[1];
  const Tensor noise = -log(-log(uniform({batch, num_samples, classes}, seed)));
  const Tensor scores = expand_dims(cast(stop_gradient(logits), DType::Float32), 1) + noise;
  return argmax(scores, -1);
}

DISTRIBUTE_INLINE Tensor uniform(const Shape& shape, const UniformOptions& options) {
  return uniform(shape, next_seed(), options);
}
DISTRIBUTE_INLINE Tensor normal(const Shape& shape, const NormalOptions& options) {
  return normal(shape, next_seed(), options);
}
DISTRIBUTE_INLINE Tensor truncated_normal(const Shape& shape, const NormalOptions& options) {
  return truncated_normal(shape, next_seed(), options);
}

}  // namespace random

DISTRIBUTE_INLINE Tensor nn::dropout(const Tensor& x, float rate, uint64_t seed, uint64_t counter) {
  return ops_internal::dropout(x, {rate, seed, counter});
}

DISTRIBUTE_INLINE Tensor nn::dropout(const Tensor& x, float rate, uint64_t seed,
                                     const std::function<uint64_t()>& counter) {
  if (RecordedStep* step = RecordedStep::current())
    return ops_internal::dropout(x, {rate, seed, 0, step->numbers<uint64_t>(counter)});
  return dropout(x, rate, seed, ops_internal::DrawLog::next(counter));
}

}  // namespace distribute
