#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/summed_conv2d.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

namespace distribute {

namespace ops_internal {

/// Checks shapes and works out sizes; `filters` as conv2d takes them.
DISTRIBUTE_INLINE Conv2DShape conv2d_shape(const Shape& x, const Shape& filters,
                                           const nn::Conv2DOptions& options,
                                           DType dtype = DType::Float32) {
  const auto fail = [&](const std::string& problem) {
    throw InvalidArgumentError(str_cat("conv2d: ", problem, ": input ", to_string(x), ", filters ",
                                       to_string(filters), ", groups ", options.groups));
  };
  if (x.rank() != 4) fail("the input must be [batch, height, width, channels]");
  if (filters.rank() != 4) fail("the filters must be [height, width, in_channels, out_channels]");
  if (options.groups < 1 || filters[2] * options.groups != x[3])
    fail("filters' in_channels times groups is not the input's channels");
  if (filters[3] % options.groups) fail("out_channels is not a multiple of groups");
  Conv2DShape s;
  s.dtype = dtype;
  s.batch = x[0];
  s.in_channels = x[3];
  s.out_channels = filters[3];
  s.groups = options.groups;
  for (int i = 0; i < 2; ++i) {
    const size_t a = size_t(i);
    const auto axis = window_axis(
        "conv2d", x[1 + i], filters[i], options.strides[a], options.dilations[a], options.padding,
        options.explicit_paddings[2 * a], options.explicit_paddings[2 * a + 1]);
    s.in[a] = x[1 + i];
    s.kernel[a] = filters[i];
    s.stride[a] = options.strides[a];
    s.dilation[a] = options.dilations[a];
    s.out[a] = axis.out;
    s.pad_before[a] = axis.pad_before;
    s.pad_after[a] = axis.pad_after;
  }
  return s;
}

DISTRIBUTE_INLINE Shape output_shape(const Conv2DShape& s) {
  return {s.batch, s.out[0], s.out[1], s.out_channels};
}

/// True when the device's convolutions do not support 16-bit operands of this kind.
DISTRIBUTE_INLINE bool needs_float32(const Tensor& t) {
  return is_half(t.dtype()) && !backend(t.device().type).supports(t.dtype());
}

DISTRIBUTE_INLINE nn::FilterGradients filter_gradients(const Tensor& x, const Shape& filter_shape,
                                                       const Tensor& dy,
                                                       const nn::Conv2DOptions& options,
                                                       bool with_bias) {
  if (needs_float32(x))
    return filter_gradients(cast(x, DType::Float32), filter_shape, cast(dy, DType::Float32),
                            options, with_bias);
  const Conv2DShape s = conv2d_shape(x.shape(), filter_shape, options, x.dtype());
  Array bias;
  Array filters =
      backend(x.device().type)
          .conv2d_backprop_filter(s, x.array(), dy.array(), with_bias ? &bias : nullptr);
  nn::FilterGradients result{Tensor(filter_shape, DType::Float32, std::move(filters)), {}};
  std::vector<Tensor> outputs{result.filters};
  if (with_bias) {
    result.bias = Tensor({s.out_channels}, DType::Float32, std::move(bias));
    outputs.push_back(result.bias);
  }
  const std::vector<Tensor> inputs{x, dy};
  record("conv2d_backprop_filter", inputs, outputs, [=](const Backward& b) {
    const Tensor &d_filters = b.gradient(0), d_bias = with_bias ? b.gradient(1) : Tensor();
    Tensor dx, ddy;
    if (d_filters && b.needs(0)) dx = nn::conv2d_backprop_input(x.shape(), d_filters, dy, options);
    if (d_filters && b.needs(1)) ddy = nn::conv2d(x, d_filters, options);
    if (d_bias && b.needs(1)) {
      const Tensor spread =
          cast(add(fill(dy.shape(), 0, d_bias.dtype(), d_bias.device()), d_bias), dy.dtype());
      ddy = ddy ? add(ddy, spread) : spread;
    }
    return std::vector<Tensor>{dx, ddy};
  });
  return result;
}

/// The type in which the kernels compute: on the CPU float32 if the backend has no kernel for
/// 16-bit images.
DISTRIBUTE_INLINE DType kernel_dtype(const Tensor& x) {
  return needs_float32(x) && !on_gpu(x) ? DType::Float32 : x.dtype();
}

/// True for images that the kernels take as they are, or that are only converted around them.
DISTRIBUTE_INLINE bool computes_as_it_is(const Tensor& x) {
  return x.shape()[0] > 0 && !(needs_float32(x) && on_gpu(x));
}

/// Whether the filters, or the bias if there is one, are float32.
DISTRIBUTE_INLINE bool has_float32(const Tensor& t) { return !t || t.dtype() == DType::Float32; }

/// The attributes of convolutions in traces.
DISTRIBUTE_INLINE OpAttributes conv2d_attributes(const nn::Conv2DOptions& o, Epilogue epilogue) {
  const auto list = [](const auto& a) { return std::vector<int64_t>(a.begin(), a.end()); };
  return {{"strides", list(o.strides)},
          {"padding", int64_t(o.padding)},
          {"explicit_paddings", list(o.explicit_paddings)},
          {"dilations", list(o.dilations)},
          {"groups", o.groups},
          {"epilogue", int64_t(epilogue)}};
}

DISTRIBUTE_INLINE void check_conv2d_types(const Tensor& x, const Tensor& filters,
                                          const Tensor& bias) {
  if (!is_floating(x.dtype()) || !has_float32(filters) || !has_float32(bias))
    throw InvalidArgumentError(str_cat("conv2d: operands must be floating and alike: input ",
                                       name_of(x.dtype()), ", filters ", name_of(filters.dtype())));
  if (bias && bias.shape() != Shape{filters.shape()[3]})
    throw InvalidArgumentError(str_cat("conv2d: the bias ", to_string(bias.shape()),
                                       " does not fit the filters ", to_string(filters.shape())));
}

/// Computes the gradient of the images. `ready` has the filters as prepare_filters() made them for
/// this convolution, or is null.
DISTRIBUTE_INLINE Tensor image_gradient(const Shape& input_shape, const Tensor& filters,
                                        const Tensor& dy, const nn::Conv2DOptions& options,
                                        const Array* ready) {
  using namespace nn;
  if (needs_float32(dy))
    return cast(conv2d_backprop_input(input_shape, cast(filters, DType::Float32),
                                      cast(dy, DType::Float32), options),
                dy.dtype());
  if (!has_float32(filters))
    return conv2d_backprop_input(input_shape, cast(filters, DType::Float32), dy, options);
  const Conv2DShape s = conv2d_shape(input_shape, filters.shape(), options, dy.dtype());
  if (dy.shape() != output_shape(s))
    throw InvalidArgumentError(str_cat("conv2d_backprop_input: the gradient is ",
                                       to_string(dy.shape()), ", the convolution gives ",
                                       to_string(output_shape(s))));
  Tensor dx(input_shape, dy.dtype(),
            backend(dy.device().type)
                .conv2d_backprop_input(s, dy.array(), ready ? *ready : filters.array()));
  return record(
      "conv2d_backprop_input", {filters, dy}, dx, [=](const Backward& b) -> std::vector<Tensor> {
        Tensor d_filters, ddy;
        if (b.needs(0))
          d_filters = filter_gradients(b.gradient(), filters.shape(), dy, options, false).filters;
        if (b.needs(1)) ddy = conv2d(b.gradient(), filters, options);
        return {d_filters, ddy};
      });
}

/// `sums_channels` asks for the sums of conv2d_with_sums().
DISTRIBUTE_INLINE Tensor convolve(const Tensor& x, const Tensor& filters,
                                  const nn::Conv2DOptions& options, const Tensor& bias,
                                  Epilogue epilogue, bool sums_channels) {
  if (const Device device = device_of({x, filters}); lie_apart(x, filters))
    return convolve(carried_to(x, device), carried_to(filters, device), options,
                    carried_to(bias, device), epilogue, sums_channels);
  if (is_half(x.dtype()) && !(has_float32(filters) && has_float32(bias)))
    return convolve(x, cast(filters, DType::Float32), options,
                    bias ? cast(bias, DType::Float32) : bias, epilogue, sums_channels);
  const DType type = kernel_dtype(x);
  const Conv2DShape s = conv2d_shape(x.shape(), filters.shape(), options, type);
  if (is_half(x.dtype()) && !computes_as_it_is(x))
    return cast(convolve(cast(x, DType::Float32), filters, options, bias, epilogue, false),
                x.dtype());
  check_conv2d_types(x, filters, bias);
  Backend& device = backend(x.device().type);
  const Array ready = device.prepare_filters(s, filters.array());
  const Array images = converted(x, type).array();
  Array sums;
  Tensor y(output_shape(s), type,
           sums_channels
               ? device.conv2d_with_sums(s, images, ready, sums)
               : device.conv2d(s, images, ready, bias ? &bias.array() : nullptr, epilogue));
  y = converted(y, x.dtype());
  if (sums.buffer)
    TensorHints::of(y).channel_sums = Tensor({2 * s.out_channels + 1}, DType::Float32, sums);
  if (epilogue == Epilogue::Relu) TensorHints::of(y).relu_output = true;
  const Tensor gate = epilogue == Epilogue::Relu ? y : Tensor();
  const BackwardFunction gradient = [=](const Backward& b) -> std::vector<Tensor> {
    const Tensor dy = cast(gate ? behind_relu(b.gradient(), gate) : b.gradient(), type);
    Tensor dx;
    if (b.needs(0)) dx = cast(image_gradient(x.shape(), filters, dy, options, &ready), x.dtype());
    if (!b.needs(1) && !b.needs(2)) return {dx, {}, {}};
    const auto gradients =
        filter_gradients(cast(x, type), filters.shape(), dy, options, bias && b.needs(2));
    return {dx, gradients.filters, gradients.bias};
  };
  return record("conv2d", {x, filters, bias}, y, gradient,
                [&] { return conv2d_attributes(options, epilogue); });
}

DISTRIBUTE_INLINE Tensor conv2d_with_sums(const Tensor& x, const Tensor& filters,
                                          const nn::Conv2DOptions& options) {
  return convolve(x, filters, options, {}, Epilogue::None, true);
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor conv2d(const Tensor& x, const Tensor& filters,
                                const Conv2DOptions& options, const Tensor& bias,
                                Epilogue epilogue) {
  return ops_internal::convolve(x, filters, options, bias, epilogue, false);
}

DISTRIBUTE_INLINE Tensor conv2d_backprop_input(const Shape& input_shape, const Tensor& filters,
                                               const Tensor& dy, const Conv2DOptions& options) {
  return ops_internal::image_gradient(input_shape, filters, dy, options, nullptr);
}

DISTRIBUTE_INLINE FilterGradients conv2d_backprop_filter(const Tensor& x, const Shape& filter_shape,
                                                         const Tensor& dy,
                                                         const Conv2DOptions& options) {
  return ops_internal::filter_gradients(x, filter_shape, dy, options, true);
}

DISTRIBUTE_INLINE Tensor depthwise_conv2d(const Tensor& x, const Tensor& filters,
                                          const Conv2DOptions& options, const Tensor& bias,
                                          Epilogue epilogue) {
  const Shape& f = filters.shape();
  if (f.rank() != 4 || x.shape().rank() != 4 || f[2] != x.shape()[3])
    throw InvalidArgumentError(str_cat("depthwise_conv2d: the filters' third axis is not the ",
                                       "input's channels: input ", to_string(x.shape()),
                                       ", filters ", to_string(f)));
  Conv2DOptions grouped = options;
  grouped.groups = f[2];
  const Tensor y =
      conv2d(x, reshape(filters, Shape{f[0], f[1], 1, f[2] * f[3]}), grouped, bias, epilogue);
  return record_composite("depthwise_conv2d", {x, filters, bias}, y,
                          [&] { return ops_internal::conv2d_attributes(grouped, epilogue); });
}

}  // namespace nn

}  // namespace distribute
