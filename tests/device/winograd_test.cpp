#include <distribute/device/detail/cpu_winograd.hpp>

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

struct Case {
  int64_t batch;
  Conv2DShape::Pair in;
  int64_t in_channels, out_channels;
  Conv2DShape::Pair before, after;
  int64_t kernel = 5;
};

/// Sizes that fill tiles of 4 x 4 and sizes that do not, one to many tiles, all kinds of padding.
const std::vector<Case> kCases{
    {2, {14, 14}, 32, 64, {2, 2}, {2, 2}},     {1, {8, 8}, 16, 16, {2, 2}, {2, 2}},
    {3, {9, 13}, 16, 48, {2, 2}, {2, 2}},      {1, {12, 11}, 48, 16, {0, 0}, {0, 0}},
    {2, {5, 6}, 16, 32, {0, 0}, {0, 0}},       {1, {7, 4}, 32, 16, {4, 3}, {1, 4}},
    {2, {3, 5}, 16, 16, {1, 6}, {5, 0}},       {5, {1, 1}, 16, 32, {2, 2}, {2, 2}},
    {2, {14, 14}, 32, 64, {1, 1}, {1, 1}, 3},  {1, {8, 8}, 16, 16, {1, 1}, {1, 1}, 3},
    {3, {9, 13}, 16, 48, {1, 1}, {1, 1}, 3},   {1, {12, 11}, 48, 16, {0, 0}, {0, 0}, 3},
    {1, {7, 4}, 32, 16, {2, 1}, {0, 2}, 3},    {5, {1, 1}, 16, 32, {1, 1}, {1, 1}, 3},
    {6, {10, 9}, 128, 160, {1, 1}, {1, 1}, 3}, {3, {7, 7}, 512, 272, {1, 1}, {1, 1}, 3},
};

Conv2DShape shape_of(const Case& c) {
  Conv2DShape s;
  s.batch = c.batch;
  s.in = c.in;
  s.in_channels = c.in_channels;
  s.out_channels = c.out_channels;
  s.kernel = {c.kernel, c.kernel};
  s.pad_before = c.before;
  s.pad_after = c.after;
  for (size_t a = 0; a < 2; ++a) s.out[a] = c.in[a] + c.before[a] + c.after[a] - c.kernel + 1;
  return s;
}

LayoutPtr grouped(const Shape& shape) {
  return std::make_shared<BlockedLayout>(shape, winograd_block());
}

/// Runs the passes by Winograd with images in groups of channels or row-major.
void run_winograd(const Conv2DShape& s, bool blocked, Passes& p) {
  const LayoutPtr x_layout = blocked ? grouped(p.x.shape()) : nullptr;
  const LayoutPtr y_layout = blocked ? grouped(p.dy.shape()) : nullptr;
  const Array x = in_layout(p.x, x_layout).array(), dy = in_layout(p.dy, y_layout).array();
  const Array bias = p.bias.array(), w = p.w.array();
  Array dbias;
  p.y = values(p.dy.shape(), winograd_conv2d(s, x, w, &bias, Epilogue::Relu, y_layout));
  p.dx = values(p.x.shape(), winograd_conv2d_backprop_input(s, dy, w, x_layout));
  p.dw = values(p.w.shape(), winograd_conv2d_backprop_filter(s, x, dy, &dbias));
  p.dbias = values(p.bias.shape(), dbias);
}

bool available() {
  Conv2DShape s = shape_of(kCases[0]);
  s.batch = 64;
  return winograd_suits(s);
}

}  // namespace

TEST_CASE("Winograd's three passes equal a direct convolution", "[device][winograd]") {
  if (!available()) SKIP("this machine or build has no Winograd convolution");
  for (size_t number = 0; number < kCases.size(); ++number) {
    const Conv2DShape s = shape_of(kCases[number]);
    Passes direct = inputs_of(s), fast = direct;
    run_backend(eigen_backend(), s, direct);
    for (int threads = 1; threads <= 3; ++threads)
      for (const bool blocked : {false, true}) {
        INFO("case " << number << ", threads " << threads << ", blocked " << blocked);
        const Threads scope(threads);
        run_winograd(s, blocked, fast);
        CHECK(difference(fast.y, direct.y) < 2e-5);
        CHECK(difference(fast.dx, direct.dx) < 2e-5);
        CHECK(difference(fast.dw, direct.dw) < 2e-5);
        CHECK(difference(fast.dbias, direct.dbias) < 1e-5);
      }
  }
}

TEST_CASE("Winograd's results repeat bit by bit", "[device][winograd]") {
  if (!available()) SKIP("this machine or build has no Winograd convolution");
  const Conv2DShape s = GENERATE(shape_of({7, {14, 14}, 32, 64, {2, 2}, {2, 2}}),
                                 shape_of({7, {14, 14}, 32, 64, {1, 1}, {1, 1}, 3}));
  for (int threads = 1; threads <= 3; ++threads) {
    const Threads scope(threads);
    Passes first = inputs_of(s), again = first;
    run_winograd(s, true, first);
    for (int run = 0; run < 3; ++run) {
      run_winograd(s, true, again);
      CHECK(same_bits(first.y, again.y));
      CHECK(same_bits(first.dx, again.dx));
      CHECK(same_bits(first.dw, again.dw));
      CHECK(same_bits(first.dbias, again.dbias));
    }
  }
}

TEST_CASE("Winograd's forward pass gives the same bits whatever the number of threads",
          "[device][winograd]") {
  if (!available()) SKIP("this machine or build has no Winograd convolution");
  const Conv2DShape s = shape_of({7, {14, 14}, 32, 64, {2, 2}, {2, 2}});
  Passes one = inputs_of(s), three = one;
  run_winograd(s, true, one);
  const Threads scope(3);
  run_winograd(s, true, three);
  CHECK(same_bits(one.y, three.y));
  CHECK(same_bits(one.dx, three.dx));
}

TEST_CASE("Winograd is taken only where it can work and pays", "[device][winograd]") {
  if (!available()) SKIP("this machine or build has no Winograd convolution");
  Conv2DShape good = shape_of({50, {14, 14}, 32, 64, {2, 2}, {2, 2}});
  CHECK(winograd_suits(good));
  const auto but = [&](auto change) {
    Conv2DShape s = good;
    change(s);
    return winograd_suits(s);
  };
  CHECK_FALSE(but([](auto& s) { s.batch = 0; }));
  CHECK_FALSE(but([](auto& s) { s.stride = {2, 2}; }));
  CHECK_FALSE(but([](auto& s) { s.dilation = {1, 2}; }));
  CHECK_FALSE(but([](auto& s) { s.kernel = {3, 5}; }));
  CHECK_FALSE(but([](auto& s) { s.kernel = {7, 7}; }));
  CHECK_FALSE(but([](auto& s) { s.groups = 2; }));
  CHECK_FALSE(but([](auto& s) { s.in_channels = 1; }));
  CHECK_FALSE(but([](auto& s) { s.out_channels = 40; }));
  CHECK_FALSE(but([](auto& s) { s.out = {1, 1}; }));
  CHECK_FALSE(but([](auto& s) { s.in_channels = s.out_channels = 512; }));
  CHECK_FALSE(but([](auto& s) { s.dtype = DType::BFloat16; }));

  good.kernel = {3, 3};
  CHECK(winograd_suits(good));
  CHECK(but([](auto& s) { s.in_channels = s.out_channels = 256; }));
  CHECK(but([](auto& s) { s.in_channels = s.out_channels = 512; }) == (simd_level() == 1));
  CHECK_FALSE(but([](auto& s) { s.in_channels = s.out_channels = 1024; }));
  CHECK_FALSE(but([](auto& s) { s.in_channels = 16; }));
  CHECK_FALSE(but([](auto& s) { s.stride = {2, 2}; }));
}

TEST_CASE("The oneDNN backend uses Winograd, and not when it is switched off",
          "[device][winograd]") {
  Backend* engine = onednn_backend();
  if (!engine || !available()) SKIP("needs oneDNN and a machine for Winograd");
  const Conv2DShape s = GENERATE(shape_of({16, {14, 14}, 16, 32, {2, 2}, {2, 2}}),
                                 shape_of({16, {14, 14}, 32, 48, {1, 1}, {1, 1}, 3}));
  Passes fast = inputs_of(s), direct = fast, again = fast;
  run_backend(*engine, s, fast);
  device_state().allow_winograd = false;
  run_backend(*engine, s, direct);
  device_state().allow_winograd = true;
  run_backend(*engine, s, again);
  CHECK_FALSE(same_bits(fast.y, direct.y));
  CHECK_FALSE(same_bits(fast.dx, direct.dx));
  CHECK_FALSE(same_bits(fast.dw, direct.dw));
  CHECK(same_bits(fast.y, again.y));
  CHECK(difference(fast.y, direct.y) < 2e-5);
  CHECK(difference(fast.dx, direct.dx) < 2e-5);
  CHECK(difference(fast.dw, direct.dw) < 2e-5);
}

TEST_CASE("The backend's blocked results keep one layout object", "[device][winograd]") {
  Backend* engine = onednn_backend();
  if (!engine || !available()) SKIP("needs oneDNN and a machine for Winograd");
  const Conv2DShape s = shape_of({16, {14, 14}, 16, 32, {2, 2}, {2, 2}});
  const Passes p = inputs_of(s);
  const Array first = engine->conv2d(s, p.x.array(), p.w.array(), nullptr, Epilogue::None);
  const Array second = engine->conv2d(s, p.x.array(), p.w.array(), nullptr, Epilogue::None);
  REQUIRE(first.layout);
  CHECK(first.layout == second.layout);
}
