#pragma once
/// Launches kernels for softmax, cross entropy, layer normalization, gathers, pooling and random
/// numbers on a GPU.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>

namespace distribute::ops_internal {

/// Computes softmax over lines of `count` numbers `step` apart, in float32; the result has x's
/// dtype.
Tensor gpu_softmax(const Tensor& x, int64_t count, int64_t step, bool logarithm);
/// Gives the int64 position of the largest, or smallest, number of each line.
Tensor gpu_arg_extreme(const Tensor& x, int64_t count, int64_t step, const Shape& shape,
                       bool smallest);

/// Labels of cross entropy on the logits' GPU: class numbers int64 [rows] or weights [rows,
/// classes].
struct GpuLabels {
  Tensor numbers, weights;
  float smoothing = 0;
};
/// Fills the float32 loss [rows] of floating logits, and `statistics` [rows, 2] for its gradient. A
/// class number out of range gives NaN.
void gpu_cross_entropy(const GpuLabels& labels, const Tensor& logits, Tensor& loss,
                       Tensor& statistics);
/// Gives dy (softmax sum(labels) - labels), in the logits' dtype.
Tensor gpu_cross_entropy_gradient(const GpuLabels& labels, const Tensor& logits,
                                  const Tensor& statistics, const Tensor& dy);

/// The rows of a layer normalization on one device, in float32. On GPUs x and its gradients may
/// also have 16 bits.
struct LayerNormRows {
  int64_t rows = 0, width = 0;
  float epsilon = 0;
  Tensor x = {};                 // [rows, width] elements
  Tensor gamma = {}, beta = {};  // [width] or none
  /// [rows, 2]: mean and 1 / deviation; GPUs read those of the forward pass
  Tensor statistics = {};
  int64_t grain() const { return 1 + 16384 / (1 + width); }
};
/// Rows whose gradients of gamma and beta are summed together.
inline constexpr int64_t kLayerNormPiece = 64;
/// Normalizes, and fills the statistics.
Tensor gpu_layer_norm(const LayerNormRows& n);
Tensor gpu_layer_norm_gradient(const LayerNormRows& n, const Tensor& dy);
/// Gives the gradients of gamma and beta, [2, width].
Tensor gpu_layer_norm_parameter_gradients(const LayerNormRows& n, const Tensor& dy);

/// Shows a tensor as [outer, size, inner] around one axis: outer * inner lines of `size` elements
/// that are `inner` apart.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
  AxisView(const Shape& shape, int axis) : size(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t lines() const { return outer * inner; }
  /// Offset of the first element of `line`.
  int64_t begin(int64_t line) const { return line / inner * size * inner + line % inner; }
};
/// Makes the attribute "axis" of an operation on x.
struct AxisAttribute {
  AxisAttribute(const Tensor& x, int of) : axis(x.shape().normalize_axis(of)) {}
  OpAttributes operator()() const { return {{"axis", axis}}; }
  int64_t axis;
};

/// Gathers the slices `index` (int64, same GPU) of the axis; an index out of range gives zeros.
Tensor gpu_gather(const Tensor& x, const Tensor& index, const AxisView& axis, const Shape& shape);
/// Adds slice i of dy to slice index[i] of zeros, in order.
Tensor gpu_scatter(const Tensor& dy, const Tensor& index, const AxisView& axis, const Shape& shape);
Tensor gpu_one_hot(const Tensor& indices, const AxisView& axis, float on_value, float off_value,
                   const Shape& shape, DType dtype);

/// Parameters of random numbers; a and b are low and width, or mean and deviation.
struct GpuRandom {
  const char* function;
  uint64_t seed = 0, counter = 0;
  float a = 0, b = 0;
  int64_t low = 0;
  uint64_t width = 0;
  int64_t first = 0;                  // y is a part of a longer sequence and begins here
  const uint64_t* current = nullptr;  // counter of a recorded step, on the GPU; null: `counter`
};
/// Fills y with random numbers; dropout reads x.
void gpu_random(const GpuRandom& random, const Tensor& x, Tensor& y);

/// The sizes of a pooling of NHWC images.
struct GpuPool2D {
  std::array<int64_t, 2> in{}, out{}, ksize{}, stride{}, pad{};
  int64_t batch = 0, channels = 0;
};
/// Launches "avg_pool" of x, or "avg_pool_gradient" of dy. "max_pool" of x writes to `dy`, as
/// uint8, which element of each window it took; "max_pool_gradient" reads these as `x`. Elements of
/// `gate` that are not positive get no gradient. Such windows have fewer than 128 elements.
Tensor gpu_pool(const char* function, const GpuPool2D& pool, const Tensor& x, const Tensor& dy,
                const Shape& shape, bool gate = false);

}  // namespace distribute::ops_internal
