#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/nn/initializers.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace distribute::nn {

DISTRIBUTE_INLINE Shape InitialRows::shape_in(const Shape& whole) const {
  return end < 0 ? whole : whole.with(0, end - begin);
}
DISTRIBUTE_INLINE int64_t InitialRows::first_element(const Shape& whole) const {
  return begin == 0 ? 0 : begin * whole.with(0, 1).num_elements();
}

DISTRIBUTE_INLINE Tensor Initializer::operator()(const Shape& shape, uint64_t seed,
                                                 InitialRows rows) const {
  const Tensor value = function_(shape, seed, rows);
  if (value.shape() == rows.shape_in(shape)) return value;
  throw InvalidArgumentError(str_cat("an initializer gave ", to_string(value.shape()),
                                     " where a weight of ", to_string(rows.shape_in(shape)),
                                     " was wanted"));
}

DISTRIBUTE_INLINE Initializer Initializer::of_matrix(int num_input_axes) const {
  return of_matrix_ ? of_matrix_(num_input_axes) : *this;
}

DISTRIBUTE_INLINE Initializer::Initializer(Function function,
                                           std::function<Initializer(int)> matrix)
    : function_(std::move(function)), of_matrix_(std::move(matrix)) {}

/// A value of the wrong shape is for the caller to refuse.
DISTRIBUTE_INLINE Tensor Initializer::cut(const Tensor& value, const Shape& whole,
                                          InitialRows rows) {
  if (rows.end < 0 || value.shape() != whole) return value;
  return value.rows(rows.begin, rows.end);
}

}  // namespace distribute::nn

namespace distribute::nn::initializers {

DISTRIBUTE_INLINE Initializer zeros() { return constant(0.0f); }
DISTRIBUTE_INLINE Initializer ones() { return constant(1.0f); }
DISTRIBUTE_INLINE Initializer constant(double value) {
  return [value = float(value)](const Shape& whole, uint64_t, InitialRows rows) {
    return fill(rows.shape_in(whole), value);
  };
}

DISTRIBUTE_INLINE Initializer value(const Tensor& tensor) {
  return [tensor](const Shape& shape, uint64_t) {
    if (tensor.shape() != shape)
      throw InvalidArgumentError(str_cat("initializer value has shape ", to_string(tensor.shape()),
                                         ", the weight ", to_string(shape)));
    return tensor;
  };
}

DISTRIBUTE_INLINE Initializer random_normal(double mean, double stddev, Seed seed) {
  return [=](const Shape& whole, uint64_t next, InitialRows rows) {
    return random::normal(rows.shape_in(whole), seed.value_or(next),
                          {mean, stddev, rows.first_element(whole)});
  };
}

DISTRIBUTE_INLINE Initializer random_uniform(double minimum, double maximum, Seed seed) {
  return [=](const Shape& whole, uint64_t next, InitialRows rows) {
    return random::uniform(rows.shape_in(whole), seed.value_or(next),
                           {minimum, maximum, rows.first_element(whole)});
  };
}

DISTRIBUTE_INLINE Initializer truncated_normal(double mean, double stddev, Seed seed) {
  return [=](const Shape& whole, uint64_t next, InitialRows rows) {
    return random::truncated_normal(rows.shape_in(whole), seed.value_or(next),
                                    {mean, stddev, rows.first_element(whole)});
  };
}

DISTRIBUTE_INLINE Initializer glorot_uniform(Seed seed) {
  return variance_scaling({1.0f, FanMode::Average, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer glorot_normal(Seed seed) {
  return variance_scaling({1.0f, FanMode::Average, Distribution::TruncatedNormal, seed});
}
DISTRIBUTE_INLINE Initializer he_uniform(Seed seed) {
  return variance_scaling({2.0f, FanMode::In, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer he_normal(Seed seed) {
  return variance_scaling({2.0f, FanMode::In, Distribution::TruncatedNormal, seed});
}
DISTRIBUTE_INLINE Initializer lecun_uniform(Seed seed) {
  return variance_scaling({1.0f, FanMode::In, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer lecun_normal(Seed seed) {
  return variance_scaling({1.0f, FanMode::In, Distribution::TruncatedNormal, seed});
}

DISTRIBUTE_INLINE Fans compute_fans(const Shape& shape, std::optional<int> num_input_axes) {
  const int rank = shape.rank();
  if (num_input_axes) {
    const auto inputs = size_t(std::clamp(*num_input_axes, 0, rank));
    return {double(Shape(shape.dims().first(inputs)).num_elements()),
            double(Shape(shape.dims().subspan(inputs)).num_elements())};
  }
  if (rank == 0) return {1, 1};
  if (rank == 1) return {double(shape[0]), double(shape[0])};
  double receptive = 1;
  for (int axis = 0; axis < rank - 2; ++axis) receptive *= double(shape[axis]);
  return {double(shape[-2]) * receptive, double(shape[-1]) * receptive};
}

DISTRIBUTE_INLINE Initializer variance_scaling(VarianceScaling options) {
  if (options.scale <= 0)
    throw InvalidArgumentError(str_cat("variance_scaling: scale ", options.scale, ", wanted > 0"));
  const auto draw = [options](const Shape& whole, uint64_t next, InitialRows rows) {
    const Fans fans = compute_fans(whole, options.num_input_axes);
    const Shape shape = rows.shape_in(whole);
    const int64_t first = rows.first_element(whole);
    double fan = (fans.in + fans.out) / 2;
    if (options.mode != FanMode::Average) fan = options.mode == FanMode::In ? fans.in : fans.out;
    const double scale = options.scale / std::max(1.0, fan);
    const uint64_t seed = options.seed.value_or(next);
    // 0.8796...: standard deviation of a unit normal that is cut off at two.
    constexpr double kTruncated = .87962566103423978;
    switch (options.distribution) {
      case Distribution::TruncatedNormal:
        return random::truncated_normal(shape, seed,
                                        {0.0f, float(std::sqrt(scale) / kTruncated), first});
      case Distribution::UntruncatedNormal:
        return random::normal(shape, seed, {0.0f, float(std::sqrt(scale)), first});
      default: break;
    }
    const float limit = float(std::sqrt(3 * scale));
    return random::uniform(shape, seed, {-limit, limit, first});
  };
  return Initializer(draw, [options](int num_input_axes) {
    VarianceScaling of_matrix = options;
    if (!of_matrix.num_input_axes) of_matrix.num_input_axes = num_input_axes;
    return variance_scaling(of_matrix);
  });
}

DISTRIBUTE_INLINE Initializer identity(double gain) {
  return [=](const Shape& shape, uint64_t) {
    if (shape.rank() != 2)
      throw InvalidArgumentError(
          str_cat("identity: wants a weight of two axes, got ", to_string(shape)));
    std::vector<float> values(size_t(shape.num_elements()));
    for (int64_t i = 0; i < std::min(shape[0], shape[1]); ++i)
      values[size_t(i * shape[1] + i)] = float(gain);
    return Tensor(shape, values);
  };
}

/// Takes from `own` its part along `other`, a vector of length 1.
DISTRIBUTE_INLINE void take_part_along(double* own, const double* other, int64_t size) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
    double product = 0;
#pragma omp simd reduction(+ : product)
    for (int64_t k = 0; k < size; ++k) product += own[k] * other[k];
#pragma omp simd
    for (int64_t k = 0; k < size; ++k) own[k] -= product * other[k];
  });
}

/// Makes `count` vectors of `size` numbers, one after the other, orthogonal and of length 1.
/// Source  Gram and Schmidt's process, twice for each vector so that rounding does not add up.
DISTRIBUTE_INLINE void make_orthogonal(std::vector<double>& vectors, int64_t count, int64_t size) {
  for (int64_t i = 0; i < count; ++i) {
    double* own = vectors.data() + i * size;
    for (int64_t j = 0; j < 2 * i; ++j) take_part_along(own, vectors.data() + j % i * size, size);
    double squares = 0;
    for (int64_t k = 0; k < size; ++k) squares += own[k] * own[k];
    for (int64_t k = 0; k < size; ++k) own[k] /= std::sqrt(squares);
  }
}

DISTRIBUTE_INLINE Initializer orthogonal(double gain, Seed seed) {
  return [=](const Shape& shape, uint64_t next) {
    if (shape.rank() < 2)
      throw InvalidArgumentError(
          str_cat("orthogonal: wants at least two axes, got ", to_string(shape)));
    const int64_t columns = shape[-1], rows = columns ? shape.num_elements() / columns : 0;
    const int64_t count = std::min(rows, columns), size = std::max(rows, columns);
    const std::vector<float> first = random::normal({count, size}, seed.value_or(next)).to_vector();
    std::vector<double> vectors(first.begin(), first.end());
    make_orthogonal(vectors, count, size);
    std::vector<float> values(vectors.size());
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < size; ++k)
        values[size_t(rows < columns ? i * columns + k : k * columns + i)] =
            float(gain * vectors[size_t(i * size + k)]);
    return Tensor(shape, values);
  };
}

struct NamedInitializer {
  std::string_view name, class_name;  // in Keras
  Initializer (*make)();
};

DISTRIBUTE_INLINE std::span<const NamedInitializer> named_initializers() {
  static constexpr NamedInitializer kAll[] = {
      {"zeros", "Zeros", zeros},
      {"zero", "Zeros", zeros},
      {"ones", "Ones", ones},
      {"one", "Ones", ones},
      {"constant", "Constant", zeros},  // of 0, as in Keras
      {"random_normal", "RandomNormal", [] { return random_normal(); }},
      {"normal", "RandomNormal", [] { return random_normal(); }},
      {"random_uniform", "RandomUniform", [] { return random_uniform(); }},
      {"uniform", "RandomUniform", [] { return random_uniform(); }},
      {"truncated_normal", "TruncatedNormal", [] { return truncated_normal(); }},
      {"glorot_uniform", "GlorotUniform", [] { return glorot_uniform(); }},
      {"glorot_normal", "GlorotNormal", [] { return glorot_normal(); }},
      {"he_uniform", "HeUniform", [] { return he_uniform(); }},
      {"he_normal", "HeNormal", [] { return he_normal(); }},
      {"lecun_uniform", "LecunUniform", [] { return lecun_uniform(); }},
      {"lecun_normal", "LecunNormal", [] { return lecun_normal(); }},
      {"variance_scaling", "VarianceScaling", [] { return variance_scaling({}); }},
      {"identity", "Identity", [] { return identity(); }},
      {"orthogonal", "Orthogonal", [] { return orthogonal(); }}};
  return kAll;
}

DISTRIBUTE_INLINE Initializer get(std::string_view name) {
  std::string names;
  for (const NamedInitializer& known : named_initializers()) {
    if (known.name == name || known.class_name == name) return known.make();
    names += str_cat(names.empty() ? "" : ", ", known.name);
  }
  throw InvalidArgumentError(str_cat("there is no initializer \"", name, "\", but ", names));
}

}  // namespace distribute::nn::initializers
