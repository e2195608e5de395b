#pragma once
/// How weights start: the initializers of Keras.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace distribute::nn {

/// Rows [begin, end) of a weight's first value; `begin` 0 and `end` -1 is all of it.
struct InitialRows {
  int64_t begin = 0, end = -1;
  /// Their shape, and the position of their first element, in a weight of shape `whole`.
  Shape shape_in(const Shape& whole) const;
  int64_t first_element(const Shape& whole) const;
};

/// Makes the first value of a weight; the same shape and seed give the same value. Any function of
/// (shape, seed) will do; one that also takes InitialRows can make a shard of a large table without
/// making the table.
class Initializer {
 public:
  using Function = std::function<Tensor(const Shape& whole, uint64_t seed, InitialRows rows)>;

  template <std::invocable<const Shape&, uint64_t, InitialRows> Fn>
  Initializer(Fn fn) : function_(std::move(fn)) {}  // NOLINT: implicit
  template <std::invocable<const Shape&, uint64_t> Fn>
  Initializer(Fn fn)  // NOLINT: implicit
      : function_([fn = std::move(fn)](const Shape& whole, uint64_t seed, InitialRows rows) {
          return cut(fn(whole, seed), whole, rows);
        }) {}

  /// Throws  InvalidArgumentError when the function gives another shape.
  Tensor operator()(const Shape& shape, uint64_t seed, InitialRows rows = {}) const;

 private:
  static Tensor cut(const Tensor& value, const Shape& whole, InitialRows rows);
  Function function_;
};

/// Without a seed of its own an initializer takes the next one of the program
/// (random::next_seed) each time a layer is built.
/// Source  tf.keras.initializers
namespace initializers {

using Seed = std::optional<uint64_t>;

Initializer zeros();                 // all elements are 0
Initializer ones();                  // all elements are 1
Initializer constant(double value);  // all elements are this value
/// A given value; its shape must be the weight's.
Initializer value(const Tensor& tensor);
/// Normal with this mean and deviation; uniform in [minimum, maximum).
Initializer random_normal(double mean = 0, double stddev = 0.05, Seed seed = {});
Initializer random_uniform(double minimum = -0.05, double maximum = 0.05, Seed seed = {});
/// Normal, with values further than two `stddev` from the mean drawn again.
Initializer truncated_normal(double mean = 0, double stddev = 0.05, Seed seed = {});

Initializer glorot_uniform(Seed seed = {});  // Glorot & Bengio 2010, uniform
Initializer glorot_normal(Seed seed = {});   // Glorot & Bengio 2010, normal
Initializer he_uniform(Seed seed = {});      // He et al. 2015, uniform
Initializer he_normal(Seed seed = {});       // He et al. 2015, normal
Initializer lecun_uniform(Seed seed = {});   // LeCun et al. 1998, uniform
Initializer lecun_normal(Seed seed = {});    // LeCun et al. 1998, normal

enum class FanMode { In, Out, Average };  // which number of connections scales
enum class Distribution { Uniform, TruncatedNormal, UntruncatedNormal };  // of the random numbers
struct VarianceScaling {  // options of variance_scaling()
  double scale = 1;
  FanMode mode = FanMode::In;
  Distribution distribution = Distribution::TruncatedNormal;
  Seed seed = {};
};
/// Variance scale / fan.
/// Source  tf.keras.initializers.VarianceScaling
Initializer variance_scaling(VarianceScaling options);

/// A random matrix with orthogonal columns, or rows where there are fewer of them; axes before the
/// last one count as one.
/// Throws  InvalidArgumentError for a weight of fewer than two axes.
/// Source  tf.keras.initializers.Orthogonal; Saxe et al. 2013
Initializer orthogonal(double gain = 1, Seed seed = {});

/// Inputs and outputs of one unit: the last two axes times the size of the receptive field.
struct Fans {
  double in, out;
};
Fans compute_fans(const Shape& shape);

}  // namespace initializers

}  // namespace distribute::nn
