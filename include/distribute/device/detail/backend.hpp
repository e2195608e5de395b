#pragma once
/// The heavy operations that a device brings: convolution and matrix products.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <string>

namespace distribute {

/// The operations whose speed decides. Arguments may be in any layout the backend itself made or
/// row-major; results may be in a layout of the backend's choice. Thread-safe. Shapes are checked
/// by the caller. A convolution whose shape has a 16-bit type reads and writes images in it;
/// filters, biases and their gradients are float32 all the same.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual bool supports(DType dtype) const = 0;

  /// Row-major filters as the convolutions' kernels read them, to be given to conv2d and to
  /// conv2d_backprop_input: both take them instead of w.
  virtual Array prepare_filters(const Conv2DShape& shape, const Array& w) {
    (void)shape;
    return w;
  }
  /// y = epilogue(x * w + bias); `bias` null for none.
  virtual Array conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                       Epilogue epilogue) = 0;
  /// y = x * w, and where the backend sums while it computes, what TensorHints::channel_sums has;
  /// else `sums` stays as it is.
  DISTRIBUTE_INLINE virtual Array conv2d_with_sums(const Conv2DShape& shape, const Array& x,
                                                   const Array& w, Array& sums);
  /// dx from dy and w.
  virtual Array conv2d_backprop_input(const Conv2DShape& shape, const Array& dy,
                                      const Array& w) = 0;
  /// dw from x and dy; fills *bias_gradient (a row-major vector) unless it is null.
  virtual Array conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                                       Array* bias_gradient) = 0;

  /// Whether matmul() takes operands of a floating type; the caller widens those of other types.
  virtual bool multiplies(DType dtype) const { return supports(dtype); }
  /// c = epilogue(a b + bias); `bias` [columns] or null. Takes and gives row-major arrays. Products
  /// of 16-bit operands are summed in float32, and on the CPU their bias is float32.
  virtual Array matmul(const MatmulShape& shape, const Array& a, const Array& b, const Array* bias,
                       Epilogue epilogue) = 0;
  /// Rows [begin, end) of c = a^T b, row-major float32 in host memory, into `rows`.
  DISTRIBUTE_INLINE virtual void product_rows(const MatmulShape& shape, const float* a,
                                              const float* b, int64_t begin, int64_t end,
                                              float* rows);
};

/// The backend in use for a kind of device: on the CPU oneDNN when built in, else Eigen; on GPUs
/// cuda_backend().
Backend& backend(DeviceType type);

/// Replaces the CPU backend for the life of the object; for tests. Not thread-safe.
class [[nodiscard]] ScopedCpuBackend {
 public:
  explicit ScopedCpuBackend(Backend& backend);
  ~ScopedCpuBackend();
  ScopedCpuBackend(const ScopedCpuBackend&) = delete;
  ScopedCpuBackend& operator=(const ScopedCpuBackend&) = delete;

 private:
  Backend* previous_;
};

}  // namespace distribute
