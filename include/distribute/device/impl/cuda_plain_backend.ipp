#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_plain_backend.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>

#include <algorithm>

namespace distribute {

namespace device_internal {

inline constexpr char kMatmulText[] =
#include <distribute/device/kernels/matmul.cu.inc>
    ;
inline constexpr char kConvText[] =
#include <distribute/device/kernels/conv.cu.inc>
    ;

DISTRIBUTE_INLINE kernels::ConvArguments conv_arguments(const Conv2DShape& s) {
  kernels::ConvArguments p{};
  p.batch = s.batch;
  p.height = s.in[0];
  p.width = s.in[1];
  p.in_channels = s.in_channels;
  p.out_height = s.out[0];
  p.out_width = s.out[1];
  p.out_channels = s.out_channels;
  p.kernel_y = int32_t(s.kernel[0]);
  p.kernel_x = int32_t(s.kernel[1]);
  p.stride_y = int32_t(s.stride[0]);
  p.stride_x = int32_t(s.stride[1]);
  p.dilation_y = int32_t(s.dilation[0]);
  p.dilation_x = int32_t(s.dilation[1]);
  p.pad_y = int32_t(s.pad_before[0]);
  p.pad_x = int32_t(s.pad_before[1]);
  p.groups = int32_t(s.groups);
  return p;
}

/// The backend of own kernels. Thread-safe, as it has no state.
class CudaPlainBackend final : public Backend {
 public:
  std::string name() const override { return "cuda kernels"; }
  bool supports(DType dtype) const override {
    return dtype == DType::Float32 || dtype == DType::Int32 || dtype == DType::Int64;
  }
  Array conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
               Epilogue epilogue) override {
    auto p = conv_arguments(shape);
    const int64_t count = shape.batch * shape.out[0] * shape.out[1] * shape.out_channels;
    const Array y = make_array(count * 4, x.buffer->device());
    p.x = x.bytes(), p.w = w.bytes(), p.y = y.bytes();
    p.bias = bias ? bias->bytes() : nullptr;
    p.relu = epilogue == Epilogue::Relu;
    return run("conv_forward", p, y, count, launch_for(count));
  }
  Array conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w) override {
    auto p = conv_arguments(shape);
    const int64_t count = shape.batch * shape.in[0] * shape.in[1] * shape.in_channels;
    const Array dx = make_array(count * 4, dy.buffer->device());
    p.x = dy.bytes(), p.w = w.bytes(), p.y = dx.bytes();
    return run("conv_data", p, dx, count, launch_for(count));
  }
  Array conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                               Array* bias_gradient) override {
    auto p = conv_arguments(shape);
    const int64_t count =
        shape.kernel[0] * shape.kernel[1] * shape.in_channels / shape.groups * shape.out_channels;
    const Array dw = make_array(count * 4, x.buffer->device());
    p.x = x.bytes(), p.w = dy.bytes(), p.y = dw.bytes();
    run("conv_filter", p, dw, count, {.grid_x = unsigned(std::clamp<int64_t>(count, 1, 65535))});
    if (bias_gradient) *bias_gradient = sum_of_pixels(shape, dy);
    return dw;
  }
  Array matmul(const MatmulShape& shape, const Array& a, const Array& b, const Array* bias,
               Epilogue epilogue) override {
    const Device device = a.buffer->device();
    const int64_t count = shape.batch * shape.rows * shape.columns;
    const Array c = make_array(count * size_of(shape.dtype), device);
    if (count == 0) return c;
    const kernels::MatmulArguments p{a.bytes(),
                                     b.bytes(),
                                     bias ? bias->bytes() : nullptr,
                                     c.bytes(),
                                     shape.batch,
                                     shape.rows,
                                     shape.columns,
                                     shape.inner,
                                     shape.transpose_a,
                                     shape.transpose_b,
                                     epilogue == Epilogue::Relu};
    const LaunchShape launch{
        .grid_x = unsigned((shape.rows + 15) / 16),
        .grid_y = unsigned(std::min<int64_t>((shape.columns + 15) / 16, 65535)),
        .grid_z = unsigned(std::min<int64_t>(shape.batch, 65535))};
    launch_kernel(device, {kMatmulText, "matmul", {}, {}, {shape.dtype}}, launch, p);
    return c;
  }

 private:
  static Array run(const char* function, const kernels::ConvArguments& p, const Array& result,
                   int64_t count, const LaunchShape& launch) {
    if (count) launch_kernel(result.buffer->device(), {kConvText, function}, launch, p);
    return result;
  }
  /// Sums over batch and pixels as a product: a row of ones times [pixels, channels].
  static Array sum_of_pixels(const Conv2DShape& shape, const Array& dy) {
    const Device device = dy.buffer->device();
    const int64_t pixels = shape.batch * shape.out[0] * shape.out[1];
    const Array ones = make_array(pixels * 4, device);
    fill_elements(ones.bytes(), device, 4, 0x3f800000u, pixels);
    const MatmulShape sum{DType::Float32, 1, 1, shape.out_channels, pixels, false, false};
    return CudaPlainBackend().matmul(sum, ones, dy, nullptr, Epilogue::None);
  }
};

}  // namespace device_internal

DISTRIBUTE_INLINE Backend& cuda_plain_backend() {
  return in_process<device_internal::CudaPlainBackend>();
}

}  // namespace distribute
