#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/device/detail/backend.hpp>
#include <distribute/device/detail/cpu_direct_conv.hpp>
#include <distribute/device/detail/cpu_onednn_layout.hpp>
#include <distribute/device/detail/cpu_onednn_product.hpp>
#include <distribute/device/detail/cpu_winograd.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/own_convolutions.hpp>

namespace distribute::onednn_internal {

/// The layout of float32 images in groups of winograd_block() channels.
DISTRIBUTE_INLINE LayoutPtr grouped_layout(const Dims& dims) {
  return image_layout(dims, winograd_block(), Memory::data_type::f32);
}

DISTRIBUTE_INLINE LayoutPtr layout_of_y(const Conv2DShape& s) {
  return grouped_layout({s.batch, s.out_channels, s.out[0], s.out[1]});
}

DISTRIBUTE_INLINE LayoutPtr layout_of_x(const Conv2DShape& s) {
  return grouped_layout({s.batch, s.in_channels, s.in[0], s.in[1]});
}

/// The backend that prefers own kernels. Thread-safe.
class OwnConvolutions final : public Backend {
 public:
  explicit OwnConvolutions(Backend& other) : other_(other) {}
  std::string name() const override { return other_.name(); }
  bool supports(DType dtype) const override { return other_.supports(dtype); }
  bool multiplies(DType dtype) const override { return other_.multiplies(dtype); }
  Array prepare_filters(const Conv2DShape& s, const Array& w) override {
    return other_.prepare_filters(s, w);
  }
  DISTRIBUTE_INLINE Array conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                 const Array* bias, Epilogue epilogue) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                const Array& w) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                 const Array& dy, Array* bias_gradient) override;
  Array matmul(const MatmulShape& s, const Array& a, const Array& b, const Array* bias,
               Epilogue epilogue) override {
    return other_.matmul(s, a, b, bias, epilogue);
  }
  void product_rows(const MatmulShape& s, const float* a, const float* b, int64_t begin,
                    int64_t end, float* rows) override {
    other_.product_rows(s, a, b, begin, end, rows);
  }

 private:
  Backend& other_;
};

DISTRIBUTE_INLINE Array OwnConvolutions::conv2d(const Conv2DShape& s, const Array& x,
                                                const Array& w, const Array* bias,
                                                Epilogue epilogue) {
  if (s.batch > 0 && winograd_suits(s))
    return winograd_conv2d(s, x, w, bias, epilogue, layout_of_y(s));
  if (s.batch > 0 && direct_conv_suits(s))
    return direct_conv2d(s, x, w, bias, epilogue, layout_of_y(s));
  return other_.conv2d(s, x, w, bias, epilogue);
}

DISTRIBUTE_INLINE Array OwnConvolutions::conv2d_backprop_input(const Conv2DShape& s,
                                                               const Array& dy, const Array& w) {
  if (s.batch == 0 || is_product(s, dy, w)) return other_.conv2d_backprop_input(s, dy, w);
  if (winograd_suits(s)) return winograd_conv2d_backprop_input(s, dy, w, layout_of_x(s));
  if (direct_conv_suits(s)) return direct_conv2d_backprop_input(s, dy, w, layout_of_x(s));
  return other_.conv2d_backprop_input(s, dy, w);
}

DISTRIBUTE_INLINE Array OwnConvolutions::conv2d_backprop_filter(const Conv2DShape& s,
                                                                const Array& x, const Array& dy,
                                                                Array* bias_gradient) {
  const bool leave =
      s.batch == 0 || (!bias_gradient && (is_product(s, x, dy) || writes_windows_out(s, x, dy)));
  if (!leave && winograd_suits(s)) return winograd_conv2d_backprop_filter(s, x, dy, bias_gradient);
  if (!leave && direct_gradient_suits(s))
    return direct_conv2d_backprop_filter(s, x, dy, bias_gradient, direct_gradient_layout(s));
  return other_.conv2d_backprop_filter(s, x, dy, bias_gradient);
}

}  // namespace distribute::onednn_internal

namespace distribute {

DISTRIBUTE_INLINE std::unique_ptr<Backend> with_own_convolutions(Backend& other) {
  return std::make_unique<onednn_internal::OwnConvolutions>(other);
}

}  // namespace distribute
#endif
