#include <distribute/nn/detail/resizing_matrix.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/gradient_check.hpp>
#include "support/check_close.hpp"
#include "support/check_throws.hpp"

using namespace distribute;
using nn::Interpolation;

namespace {

const std::vector<Interpolation> kMethods{Interpolation::Nearest, Interpolation::Bilinear,
                                          Interpolation::Bicubic, Interpolation::Lanczos3,
                                          Interpolation::Lanczos5};

}  // namespace

TEST_CASE("weights of a resized image sum to 1 and leave a size that stays", "[nn][resizing]") {
  for (const Interpolation method : kMethods)
    for (const bool antialias : {false, true})
      for (const int64_t wanted : {1, 3, 5, 7, 12}) {
        INFO(int(method) << " to " << wanted << ", antialias " << antialias);
        const Tensor matrix = nn::nn_internal::resizing_matrix(wanted, 5, method, antialias);
        check_close(reduce_sum(matrix, {1}), std::vector<double>(size_t(wanted), 1.0), 1e-5);
        if (wanted != 5) continue;
        std::vector<double> same(25, 0.0);
        for (size_t i = 0; i < 5; ++i) same[i * 6] = 1;
        check_close(matrix, same, 1e-6);
      }
}

TEST_CASE("an image twice as small has the weights of TensorFlow", "[nn][resizing]") {
  using nn::nn_internal::resizing_matrix;
  check_close(resizing_matrix(1, 2, Interpolation::Bicubic), {0.5, 0.5});
  check_close(resizing_matrix(2, 4, Interpolation::Bicubic),
              {0.5294118, 0.5294118, -0.05882353, 0, 0, -0.05882353, 0.5294118, 0.5294118}, 1e-6);
  check_close(resizing_matrix(2, 4, Interpolation::Bilinear, true),
              {0.42857143, 0.42857143, 0.14285714, 0, 0, 0.14285714, 0.42857143, 0.42857143}, 1e-6);
}

TEST_CASE("layers that resize have the gradient of their image", "[nn][resizing]") {
  for (const Interpolation method : kMethods) {
    nn::Resizing cropped({.height = 3,
                          .width = 4,
                          .interpolation = method,
                          .crop_to_aspect_ratio = true,
                          .antialias = true});
    nn::Resizing padded({.height = 3,
                         .width = 2,
                         .interpolation = method,
                         .pad_to_aspect_ratio = true,
                         .fill_value = 0.5});
    for (nn::Resizing* layer : {&cropped, &padded})
      check_gradient([&](const auto& in) { return (*layer)(in[0]); },
                     {test_tensor({1, 4, 6, 2}, 1)});
  }
}

TEST_CASE("a layer that resizes crops or pads, and not both", "[nn][resizing]") {
  nn::ResizingOptions both{.height = 2, .width = 2};
  both.crop_to_aspect_ratio = both.pad_to_aspect_ratio = true;
  CHECK_THROWS_SAYING(nn::Resizing(both), InvalidArgumentError, "only one of");
}
