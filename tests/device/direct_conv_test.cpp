#include <distribute/device/detail/cpu_direct_conv.hpp>

#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cpu_eigen.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/device/detail/device_state.hpp>

#include "../support/blocked_layout.hpp"
#include "../support/catch.hpp"
#include "../support/conv_passes.hpp"

using namespace distribute;
using namespace distribute::testing;

namespace {

using Pair = Conv2DShape::Pair;

struct Case {
  int64_t batch;
  Pair in;
  int64_t in_channels, out_channels;
  Pair kernel, stride{1, 1}, before{}, after{}, dilation{1, 1};
};

/// Whole and half panels, rows and images side by side or not, padding of all kinds, windows that
/// lie outside of the image altogether, more channels than one product sums over.
const std::vector<Case> kCases{
    {1, {4, 4}, 8, 8, {1, 1}},
    {3, {7, 7}, 64, 24, {1, 1}},
    {9, {3, 5}, 16, 32, {1, 1}},
    {2, {25, 20}, 24, 40, {1, 1}},
    {2, {9, 8}, 40, 16, {1, 1}, {2, 2}},
    {2, {5, 5}, 320, 72, {1, 1}, {1, 1}, {1, 2}, {2, 0}},
    {2, {9, 8}, 16, 24, {3, 3}, {2, 2}, {0, 0}, {1, 1}},
    {3, {14, 14}, 72, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {1, {6, 31}, 8, 48, {3, 5}, {1, 3}, {2, 1}, {0, 4}},
    {2, {8, 8}, 16, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, {9, 10}, 16, 8, {3, 2}, {1, 1}, {2, 2}, {2, 0}, {2, 3}},
    {2, {1, 2}, 8, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {1, {2, 2}, 16, 16, {1, 1}, {1, 1}, {3, 3}, {3, 3}},
    {1, {300, 3}, 8, 16, {1, 3}, {1, 1}, {0, 1}, {0, 1}},
    {2, {40, 30}, 264, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
};

Conv2DShape shape_of(const Case& c) {
  Conv2DShape s;
  s.batch = c.batch;
  s.in = c.in;
  s.in_channels = c.in_channels;
  s.out_channels = c.out_channels;
  s.kernel = c.kernel;
  s.stride = c.stride;
  s.dilation = c.dilation;
  s.pad_before = c.before;
  s.pad_after = c.after;
  for (size_t a = 0; a < 2; ++a) {
    const int64_t window = (c.kernel[a] - 1) * c.dilation[a] + 1;
    s.out[a] = (c.in[a] + c.before[a] + c.after[a] - window) / c.stride[a] + 1;
  }
  return s;
}

LayoutPtr grouped(const Shape& shape) { return std::make_shared<BlockedLayout>(shape, 8); }

void run_direct(const Conv2DShape& s, bool blocked, Passes& p) {
  const LayoutPtr x_layout = blocked ? grouped(p.x.shape()) : nullptr;
  const LayoutPtr y_layout = blocked ? grouped(p.dy.shape()) : nullptr;
  const Array x = in_layout(p.x, x_layout).array(), dy = in_layout(p.dy, y_layout).array();
  const Array bias = p.bias.array(), w = p.w.array();
  Array dbias;
  p.y = values(p.dy.shape(), direct_conv2d(s, x, w, &bias, Epilogue::Relu, y_layout));
  p.dx = values(p.x.shape(), direct_conv2d_backprop_input(s, dy, w, x_layout));
  p.dw = values(p.w.shape(), direct_conv2d_backprop_filter(s, x, dy, &dbias, nullptr));
  p.dbias = values(p.bias.shape(), dbias);
}

/// The kernels need AVX2; machines with AVX-512, which do not take them, run them as well.
bool runs() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  return simd_level() > 0;
#else
  return false;
#endif
}

/// Without bias and ReLU.
std::vector<float> plain(const Conv2DShape& s, const Passes& p) {
  return values(p.dy.shape(),
                direct_conv2d(s, p.x.array(), p.w.array(), nullptr, Epilogue::None, nullptr));
}

}  // namespace

TEST_CASE("The direct convolution's three passes equal the reference", "[device][direct_conv]") {
  if (!runs()) SKIP("this machine or build has no direct convolution");
  for (size_t number = 0; number < kCases.size(); ++number) {
    const Conv2DShape s = shape_of(kCases[number]);
    Passes reference = inputs_of(s), direct = reference, first;
    run_backend(eigen_backend(), s, reference);
    const std::vector<float> wanted_plain = values(
        reference.dy.shape(), eigen_backend().conv2d(s, reference.x.array(), reference.w.array(),
                                                     nullptr, Epilogue::None));
    for (const bool blocked : {false, true})
      for (int threads = 1; threads <= 3; ++threads) {
        INFO("case " << number << ", threads " << threads << ", blocked " << blocked);
        const Threads scope(threads);
        run_direct(s, blocked, direct);
        CHECK(difference(direct.y, reference.y) < 1e-5);
        CHECK(difference(plain(s, direct), wanted_plain) < 1e-5);
        CHECK(difference(direct.dx, reference.dx) < 1e-5);
        CHECK(difference(direct.dw, reference.dw) < 1e-5);
        CHECK(difference(direct.dbias, reference.dbias) < 1e-5);
        if (threads == 1 && !blocked) first = direct;
        CHECK(same_bits(direct.y, first.y));
        CHECK(same_bits(direct.dx, first.dx));
        CHECK(same_bits(direct.dw, first.dw));
        CHECK(same_bits(direct.dbias, first.dbias));
      }
  }
}

TEST_CASE("Gradients of 1x1 filters come in the layout asked for", "[device][direct_conv]") {
  if (!runs()) SKIP("this machine or build has no direct convolution");
  const Conv2DShape s = shape_of({3, {6, 5}, 24, 40, {1, 1}});
  const Passes p = inputs_of(s);
  const Array x = p.x.array(), dy = p.dy.array();
  // [out / 8][in][8] is what an image of one row of `in` pixels has in groups of 8 channels.
  const LayoutPtr layout = grouped({1, 1, s.in_channels, s.out_channels});
  const Array blocked = direct_conv2d_backprop_filter(s, x, dy, nullptr, layout);
  CHECK(blocked.layout == layout);
  const Array plain = direct_conv2d_backprop_filter(s, x, dy, nullptr, nullptr);
  CHECK(same_bits(values(p.w.shape(), blocked), values(p.w.shape(), plain)));
}

TEST_CASE("A direct convolution without bias and ReLU equals the reference",
          "[device][direct_conv]") {
  if (!runs()) SKIP("this machine or build has no direct convolution");
  const Conv2DShape s = shape_of({3, {14, 14}, 72, 40, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  const Passes p = inputs_of(s);
  const Array x = p.x.array(), w = p.w.array();
  CHECK(difference(values(p.dy.shape(), direct_conv2d(s, x, w, nullptr, Epilogue::None, nullptr)),
                   values(p.dy.shape(), eigen_backend().conv2d(s, x, w, nullptr, Epilogue::None))) <
        1e-5);
}

TEST_CASE("NaN passes through a direct convolution with ReLU", "[device][direct_conv]") {
  if (!runs()) SKIP("this machine or build has no direct convolution");
  const Conv2DShape s = shape_of({1, {4, 4}, 8, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  const Tensor x = ones({1, 4, 4, 8}), w = test_tensor({3, 3, 8, 8}, 2);
  x.array().data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = values(
      {1, 2, 2, 8}, direct_conv2d(s, x.array(), w.array(), nullptr, Epilogue::Relu, nullptr));
  for (size_t c = 0; c < 8; ++c) CHECK(std::isnan(y[c]));
  for (size_t c = 24; c < 32; ++c) CHECK(y[c] >= 0.0f);
}

TEST_CASE("Direct convolutions are taken only where they can work and pay",
          "[device][direct_conv]") {
  const Conv2DShape good = shape_of({8, {14, 14}, 64, 64, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  CHECK(direct_conv_suits(good) == (runs() && simd_level() == 1));
  CHECK(direct_gradient_suits(good) == (runs() && simd_level() == 1));
  const auto suit = [&](auto change) {
    Conv2DShape s = good;
    change(s);
    return std::pair(direct_conv_suits(s), direct_gradient_suits(s));
  };
  const std::pair none(false, false), gradient(false, direct_gradient_suits(good));
  CHECK(suit([](auto& s) { s.groups = 2; }) == none);
  CHECK(suit([](auto& s) { s.in_channels = 3; }) == none);
  CHECK(suit([](auto& s) { s.out_channels = 10; }) == none);
  CHECK(suit([](auto& s) { s.dtype = DType::BFloat16; }) == none);
  CHECK(suit([](auto& s) { s.out = {0, 7}; }) == none);
  CHECK(suit([](auto& s) { s.kernel = {1, 1}; }) == gradient);
  CHECK(suit([](auto& s) { s.in_channels = 16; }) == gradient);
  device_state().allow_winograd = false;
  CHECK(suit([](auto&) {}) == none);
  device_state().allow_winograd = true;
}

TEST_CASE("The oneDNN backend takes direct convolutions", "[device][direct_conv]") {
  Backend* engine = onednn_backend();
  const Conv2DShape strided = shape_of({4, {14, 14}, 64, 64, {3, 3}, {2, 2}, {0, 0}, {1, 1}});
  const Conv2DShape pointwise = shape_of({4, {9, 9}, 32, 48, {1, 1}});
  if (!engine || !direct_conv_suits(strided)) SKIP("needs oneDNN and a machine with AVX2 alone");
  for (const Conv2DShape& s : {strided, pointwise}) {
    INFO("kernel " << s.kernel[0] << ", out " << s.out[0] << " x " << s.out[1]);
    Passes ours = inputs_of(s), theirs = ours;
    run_backend(*engine, s, ours);
    device_state().allow_winograd = false;
    run_backend(*engine, s, theirs);
    device_state().allow_winograd = true;
    CHECK_FALSE(same_bits(ours.dw, theirs.dw));
    CHECK(difference(ours.y, theirs.y) < 1e-5);
    CHECK(difference(ours.dx, theirs.dx) < 1e-5);
    CHECK(difference(ours.dw, theirs.dw) < 1e-5);
    CHECK(difference(ours.dbias, theirs.dbias) < 1e-5);
  }
}
