#include <distribute/data/image.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>

using namespace distribute;

namespace {

Tensor colours() {
  return Tensor(Shape{1, 4, 3},
                std::vector<float>{0, 48, 170, 115, 134, 227, 143, 133, 197, 84, 45, 80});
}

}  // namespace

// The numbers are those of tf.image, TensorFlow 2.21.
TEST_CASE("hue, saturation, contrast and brightness change as in TensorFlow", "[data][image]") {
  check_close(image::adjust_hue(colours(), 0.3f),
              {170, 0, 81.99996, 227, 115, 156.4, 197, 133, 135.8, 84, 80.2, 45}, 1e-5);
  check_close(image::adjust_hue(colours(), -0.4f),
              {116, 170, 0, 178.8, 227, 115, 148.6, 197, 133, 45, 84, 72.39999}, 1e-5);
  check_close(image::adjust_saturation(colours(), 1.5f),
              {0, 48, 170, 59, 87.50002, 227, 116, 101, 197, 84, 25.5, 78.00002}, 1e-5);
  check_close(image::adjust_saturation(colours(), 0),
              {170, 170, 170, 227, 227, 227, 197, 197, 197, 84, 84, 84});
  check_close(image::adjust_contrast(colours(), 2),
              {-85.5, 6, 171.5, 144.5, 178, 285.5, 200.5, 176, 225.5, 82.5, 0, -8.5});
  CHECK(image::adjust_brightness(colours(), 2).to_vector()[3] == 117);
}

TEST_CASE("standardization gives mean 0 and variance 1 as in TensorFlow", "[data][image]") {
  check_close(image::per_image_standardization(colours()),
              {-1.802542, -1.04799, 0.8698315, 0.005239988, 0.3039171, 1.765863, 0.4453956,
               0.2881972, 1.294267, -0.4820752, -1.095149, -0.5449546},
              1e-5);
  check_close(image::per_image_standardization(fill(Shape{1, 2, 3}, 5.0)), {0, 0, 0, 0, 0, 0});
}

TEST_CASE("normalize scales each channel", "[data][image]") {
  const image::Normalization normalization{{10, 20, 30}, {1, 2, 4}};
  const std::vector<float> pixels{10, 22, 34, 11, 18, 26, 12, 20, 30};
  check_close(image::normalize(Tensor(Shape{1, 3, 3}, pixels), normalization),
              {0, 1, 1, 1, -1, -1, 2, 0, 0});
}

TEST_CASE("colour jitter depends on its key alone, and none changes nothing", "[data][image]") {
  const image::ColorJitter jitter{
      .brightness = 0.1f, .contrast = 0.5f, .saturation = 0.5f, .hue = 0.2f, .lighting = 0.1f};
  const auto at = [&](uint64_t key, const image::ColorJitter& how) {
    data::Random random(key);
    return image::random_color_jitter(colours(), how, random).to_vector();
  };
  CHECK(at(1, jitter) == at(1, jitter));
  CHECK(at(1, jitter) != at(2, jitter));
  CHECK(at(1, {}) == colours().to_vector());
  CHECK(at(1, {.lighting = 0.1f}) != colours().to_vector());
  for (uint64_t key = 0; key < 50; ++key) {
    const float shift = at(key, {.brightness = 0.1f})[0];
    CHECK(std::abs(shift) <= 25.5f);
  }
}

TEST_CASE("adjustments refuse what is no float picture", "[data][image]") {
  CHECK_THROWS_AS(image::adjust_hue(zeros(Shape{2, 2, 1}), 0.1f), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_contrast(zeros(Shape{2, 2}), 0.1f), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_brightness(zeros(Shape{2, 2, 3}, DType::UInt8), 1),
                  InvalidArgumentError);
}
