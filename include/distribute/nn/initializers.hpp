#pragma once
/// First values of weights: the initializers of Keras.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace distribute::nn {

/// Rows [begin, end) of a weight's first value; `begin` 0 and `end` -1 is all of it.
struct InitialRows {
  int64_t begin = 0, end = -1;
  /// Returns the rows' shape, and the position of their first element, in a weight of shape
  /// `whole`.
  Shape shape_in(const Shape& whole) const;
  int64_t first_element(const Shape& whole) const;
};

/// Makes the first value of a weight; the same shape and seed give the same value. Any function of
/// (shape, seed) will do; one that also takes InitialRows can make a shard of a large table without
/// making the table. A name stands for the initializer with Keras's defaults, as in
/// `.kernel_initializer = "he_normal"`.
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

  /// Throws  InvalidArgumentError with the names that there are, as initializers::get() does.
  template <size_t kSize>
  Initializer(const char (&name)[kSize]);  // NOLINT: implicit
  /// Makes one that depends on the number of connections: `matrix` gives what of_matrix() returns.
  Initializer(Function function, std::function<Initializer(int num_input_axes)> matrix);

  /// Throws  InvalidArgumentError when the function gives another shape.
  Tensor operator()(const Shape& shape, uint64_t seed, InitialRows rows = {}) const;
  /// Returns the initializer of a weight that is a matrix in several axes: the first
  /// `num_input_axes` of them are its rows. Only initializers that scale with the number of
  /// connections differ then.
  /// Source  the kernel_initializer of tf.keras.layers.EinsumDense
  Initializer of_matrix(int num_input_axes) const;

 private:
  static Tensor cut(const Tensor& value, const Shape& whole, InitialRows rows);
  Function function_;
  std::function<Initializer(int)> of_matrix_;  // null: it does not depend on connections
};

/// An initializer without a seed takes the program's next one (random::next_seed) each time a layer
/// is built.
/// Source  tf.keras.initializers
namespace initializers {

using Seed = std::optional<uint64_t>;

/// Returns the initializer of a name such as "glorot_uniform" or "GlorotUniform".
/// Throws  InvalidArgumentError with the names that there are.
/// Source  tf.keras.initializers.get
Initializer get(std::string_view name);

Initializer zeros();                 // all elements are 0
Initializer ones();                  // all elements are 1
Initializer constant(double value);  // all elements are this value
/// Returns an initializer that gives this tensor, which must have the shape of the weight.
Initializer value(const Tensor& tensor);
/// random_normal() draws from the normal distribution with this mean and deviation,
/// random_uniform() uniformly from [minimum, maximum).
Initializer random_normal(double mean = 0, double stddev = 0.05, Seed seed = {});
Initializer random_uniform(double minimum = -0.05, double maximum = 0.05, Seed seed = {});
/// Draws normal numbers, and draws again those further than two `stddev` from the mean.
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
  /// The first axes, which together count the inputs of a unit; the others count units. Unset: the
  /// weight is a convolution's, as compute_fans() says.
  /// Source  input_axes and output_axes
  std::optional<int> num_input_axes = {};
};
/// Draws numbers of variance scale / fan.
/// Source  tf.keras.initializers.VarianceScaling
Initializer variance_scaling(VarianceScaling options);

/// Makes `gain` times the identity matrix; a matrix that is not square has zeros beside it.
/// Throws  InvalidArgumentError for a weight of another number of axes than two.
/// Source  tf.keras.initializers.Identity
Initializer identity(double gain = 1);

/// Makes a random matrix with orthogonal columns, or rows if there are fewer of them; the axes
/// before the last count as one.
/// Throws  InvalidArgumentError for a weight of fewer than two axes.
/// Source  tf.keras.initializers.Orthogonal; Saxe et al. 2013
Initializer orthogonal(double gain = 1, Seed seed = {});

/// Number of inputs and outputs of one unit: the last two axes times the size of the receptive
/// field, or the sizes of the first axes and of the others.
struct Fans {
  double in, out;
};
Fans compute_fans(const Shape& shape, std::optional<int> num_input_axes = {});

}  // namespace initializers

template <size_t kSize>
Initializer::Initializer(const char (&name)[kSize]) : Initializer(initializers::get(name)) {}

}  // namespace distribute::nn
