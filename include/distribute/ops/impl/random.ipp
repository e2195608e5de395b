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

/// Words of a counter: which four elements, and which draw.
struct PhiloxCounter {
  uint32_t words[4];
};

/// Ten rounds; inlined into loops that vectorise.
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

/// Draw `counter` of groups [group, group + kGroups): word w of group g lands in words[4 g + w].
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

/// Calls part(words, word, i) for elements first + i of a seed, i in [0, count): its random word is
/// words[word], that of its neighbour beside it.
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

/// [0, 1) with 24 bits.
DISTRIBUTE_ALWAYS_INLINE inline float unit(uint32_t word) { return float(word >> 8) * 0x1p-24f; }

/// Two normal numbers from two words (Box and Muller, 1958).
DISTRIBUTE_INLINE std::array<float, 2> box_muller(uint32_t first, uint32_t second) {
  const float radius = std::sqrt(-2 * std::log(1 - unit(first)));
  const float angle = 2 * std::numbers::pi_v<float> * unit(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Element i's own sequence of draws, until one lies within two standard deviations.
DISTRIBUTE_INLINE float truncated_draw(uint64_t seed, int64_t element) {
  for (uint32_t attempt = 0;; ++attempt) {
    const auto words =
        random::philox({uint32_t(element), uint32_t(element >> 32), attempt, 1}, seed);
    for (int pair = 0; pair < 4; pair += 2)
      for (float value : box_muller(words[size_t(pair)], words[size_t(pair + 1)]))
        if (std::abs(value) <= 2) return value;
  }
}

/// Which mask: of a recorded step the counter is on the GPU, at `current`.
struct DropoutMask {
  float rate;
  uint64_t seed, counter;
  const uint64_t* current = nullptr;
};

/// x or 0, scaled; the mask is drawn again for the gradient instead of being kept.
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
  // Seeds 1, 2, 3 must not give overlapping sequences: next_seed counts up from here.
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
  Tensor result = Tensor::empty(shape, DType::Float32);
  const float low = float(options.minval), width = float(options.maxval) - low;
  if (ops_internal::on_gpu(result)) {
    ops_internal::gpu_random({"uniform", seed, 0, low, width, 0, 0, options.first}, {}, result);
    return result;
  }
  float* out = result.mutable_data<float>();
  ops_internal::for_random_window(options.first, shape.num_elements(), seed,
                                  [=](const uint32_t* words, int64_t word, int64_t i) {
                                    out[i] = low + width * ops_internal::unit(words[word]);
                                  });
  return result;
}

DISTRIBUTE_INLINE Tensor normal(const Shape& shape, uint64_t seed, const NormalOptions& options) {
  Tensor result = Tensor::empty(shape, DType::Float32);
  const float mean = float(options.mean), stddev = float(options.stddev);
  if (ops_internal::on_gpu(result)) {
    ops_internal::gpu_random({"normal", seed, 0, mean, stddev, 0, 0, options.first}, {}, result);
    return result;
  }
  float* out = result.mutable_data<float>();
  ops_internal::for_random_window(options.first, shape.num_elements(), seed,
                                  [=](const uint32_t* words, int64_t word, int64_t i) {
                                    const auto pair =
                                        ops_internal::box_muller(words[word & ~1], words[word | 1]);
                                    out[i] = mean + stddev * pair[size_t(word & 1)];
                                  });
  return result;
}

DISTRIBUTE_INLINE Tensor truncated_normal(const Shape& shape, uint64_t seed,
                                          const NormalOptions& options) {
  Tensor result = Tensor::empty(shape, DType::Float32);
  const float mean = float(options.mean), stddev = float(options.stddev);
  const int64_t first = options.first;
  if (ops_internal::on_gpu(result)) {
    ops_internal::gpu_random({"truncated_normal", seed, 0, mean, stddev, 0, 0, first}, {}, result);
    return result;
  }
  float* out = result.mutable_data<float>();
  parallel_for(shape.num_elements(), 1024, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = mean + stddev * ops_internal::truncated_draw(seed, first + i);
  });
  return result;
}

DISTRIBUTE_INLINE Tensor uniform_int(const Shape& shape, uint64_t seed, int64_t minval,
                                     int64_t maxval) {
  if (minval >= maxval)
    throw InvalidArgumentError(str_cat("uniform_int: no integers in [", minval, ", ", maxval, ")"));
  Tensor result = Tensor::empty(shape, DType::Int64);
  const uint64_t width = uint64_t(maxval) - uint64_t(minval);
  if (ops_internal::on_gpu(result)) {
    ops_internal::gpu_random({"uniform_int", seed, 0, 0, 0, minval, width}, {}, result);
    return result;
  }
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const auto words = philox({uint32_t(i), uint32_t(i >> 32), 0, 2}, seed);
    const uint64_t word = uint64_t{words[0]} << 32 | words[1];
    result.mutable_data<int64_t>()[i] = int64_t(uint64_t(minval) + word % width);
  }
  return result;
}

/// The largest of logits with Gumbel's noise, which is distributed as softmax says.
DISTRIBUTE_INLINE Tensor categorical(const Tensor& logits, int64_t num_samples, uint64_t seed) {
  if (logits.shape().rank() != 2 || logits.shape()[1] == 0 || num_samples < 0)
    throw InvalidArgumentError(str_cat("categorical: wanted logits [batch, classes], got ",
                                       to_string(logits.shape()), " for ", num_samples, " draws"));
  const int64_t batch = logits.shape()[0], classes = logits.shape()[1];
  const Tensor noise = -log(-log(uniform({batch, num_samples, classes}, seed)));
  const Tensor scores = expand_dims(cast(stop_gradient(logits), DType::Float32), 1) + noise;
  return argmax(scores, -1);
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
