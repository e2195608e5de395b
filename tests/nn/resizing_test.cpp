#include <distribute/nn/reshaping.hpp>

#include <tests/support/gradient_check.hpp>
#include "support/check_throws.hpp"

using namespace distribute;
using nn::Interpolation;

namespace {

const std::vector<Interpolation> kMethods{Interpolation::Nearest, Interpolation::Bilinear,
                                          Interpolation::Bicubic, Interpolation::Lanczos3,
                                          Interpolation::Lanczos5};

}  // namespace

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
