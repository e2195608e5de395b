#include <distribute/ops/detail/resize_spans.hpp>

#include <numeric>
#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>

using namespace distribute;
using ops_internal::resize_spans;

namespace {

Tensor as_tensor(const ops_internal::PixelSpan& span) {
  return Tensor(Shape{int64_t(span.weights.size())}, span.weights);
}

}  // namespace
using ops_internal::ResizeKernel;

TEST_CASE("weights of a resized image sum to 1 and leave a size that stays", "[ops][resize]") {
  for (int kernel = 0; kernel <= int(ResizeKernel::MitchellCubic); ++kernel)
    for (const bool antialias : {false, true})
      for (const int64_t wanted : {1, 3, 5, 7, 12}) {
        INFO(kernel << " to " << wanted << ", antialias " << antialias);
        const auto spans = resize_spans(wanted, 5, ResizeKernel(kernel), antialias);
        REQUIRE(spans.size() == size_t(wanted));
        for (const auto& [first, weights] : spans) {
          CHECK((first >= 0 && first + int64_t(weights.size()) <= 5));
          CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == Approx(1.0));
        }
        if (wanted != 5 || kernel >= int(ResizeKernel::Gaussian)) continue;  // these blur
        for (int64_t i = 0; i < 5; ++i)
          for (size_t k = 0; k < spans[size_t(i)].weights.size(); ++k) {
            const bool itself = spans[size_t(i)].first + int64_t(k) == i;
            CHECK(spans[size_t(i)].weights[k] == Approx(itself ? 1.0 : 0.0).margin(1e-6));
          }
      }
}

TEST_CASE("an image half as large has the weights of TensorFlow", "[ops][resize]") {
  const auto half = resize_spans(2, 4, ResizeKernel::Bicubic);
  check_close(as_tensor(half[0]), {0.5294118, 0.5294118, -0.05882353}, 1e-6);
  CHECK(half[1].first == 1);
  check_close(as_tensor(half[1]), {-0.05882353, 0.5294118, 0.5294118}, 1e-6);
  const auto smooth = resize_spans(2, 4, ResizeKernel::Bilinear, true);
  check_close(as_tensor(smooth[0]), {0.42857143, 0.42857143, 0.14285714}, 1e-6);
  check_close(as_tensor(smooth[1]), {0.14285714, 0.42857143, 0.42857143}, 1e-6);
}
