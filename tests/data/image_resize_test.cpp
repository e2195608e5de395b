#include <distribute/data/image.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using image::resize;

namespace {

Tensor pattern(int64_t height, int64_t width) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t k = (y * 7 + x) * 3 + c;
        pixels.push_back(uint8_t((37 * k * k + 11 * k) % 251));
      }
  return Tensor(Shape{height, width, 3}, pixels);
}

}  // namespace

// The numbers are those of tf.image.resize, TensorFlow 2.21.
TEST_CASE("resize makes pictures smaller as TensorFlow does", "[data][image]") {
  const Tensor result = resize(pattern(5, 7), {2, 3});
  CHECK(result.shape() == Shape{2, 3, 3});
  check_close(result, {197.9167, 74.33333, 213, 206.25, 15, 86, 181.75, 111.0833, 135.3333,
                       94.16667, 153.3333, 140.0833, 64, 181, 121, 84.66664, 134, 152.75});
}

TEST_CASE("resize makes pictures larger as TensorFlow does", "[data][image]") {
  check_close(
      resize(pattern(2, 2), {3, 5}),
      {0,      48,    170,    11.5,  56.6, 175.7, 57.5,   91,    198.5,  103.5,  125.4, 221.3,
       115,    134,   227,    116.5, 63,   209,   122.65, 66.25, 209.35, 147.25, 79.25, 210.75,
       171.85, 92.25, 212.15, 178,   95.5, 212.5, 233,    78,    248,    233.8,  75.9,  243,
       237,    67.5,  223,    240.2, 59.1, 203,   241,    57,    198});
}

TEST_CASE("resize with antialias widens the filter as TensorFlow does", "[data][image]") {
  check_close(
      resize(pattern(5, 7), {2, 3}, {.antialias = true}),
      {159.9188, 111.2662, 178.1753, 168.5883, 113.1604, 110.2567, 164.1948, 111.052, 131.9091,
       157.0389, 144.0812, 126.8896, 124.7192, 144.4866, 114.7674, 96.59415, 122.3377, 126.7337},
      2e-6);
}

TEST_CASE("resize takes batches and floats, and to the same size changes nothing",
          "[data][image]") {
  const Tensor one = pattern(4, 6);
  CHECK(resize(one, {4, 6}).to_vector() == one.to_vector());
  CHECK(resize(one, {4, 6}, {.antialias = true}).to_vector() == one.to_vector());
  auto twice = one.to_vector();
  twice.insert(twice.end(), twice.begin(), twice.end());
  const Tensor batch = resize(Tensor(Shape{2, 4, 6, 3}, twice), {3, 5});
  CHECK(batch.shape() == Shape{2, 3, 5, 3});
  for (int64_t i : {0, 1})
    CHECK(batch.rows(i, i + 1).to_vector() == resize(one, {3, 5}).to_vector());
}

TEST_CASE("resize can mirror, which is the flipped result", "[data][image]") {
  for (bool antialias : {false, true})
    for (const image::ImageSize& size : {image::ImageSize{3, 4}, image::ImageSize{9, 30}}) {
      const Tensor plain = resize(pattern(6, 11), size, {.antialias = antialias});
      const Tensor mirrored =
          resize(pattern(6, 11), size, {.antialias = antialias, .mirrored = true});
      CHECK(mirrored.to_vector() == image::flip_left_right(plain).to_vector());
    }
}

TEST_CASE("resize refuses what is no picture", "[data][image]") {
  CHECK_THROWS_AS(resize(zeros(Shape{4, 6}), {2, 2}), InvalidArgumentError);
  CHECK_THROWS_AS(resize(zeros(Shape{0, 6, 3}), {2, 2}), InvalidArgumentError);
  CHECK_THROWS_AS(resize(zeros(Shape{4, 6, 3}, DType::Int32), {2, 2}), InvalidArgumentError);
  CHECK_THROWS_SAYING(resize(zeros(Shape{4, 6, 3}), {0, 2}), InvalidArgumentError,
                      "new size is 0 x 2");
}

TEST_CASE("the shorter side gets the size asked for", "[data][image]") {
  using image::ImageSize;
  CHECK(image::size_with_shorter_side({375, 500}, 256) == ImageSize{256, 341});
  CHECK(image::size_with_shorter_side({500, 375}, 256) == ImageSize{341, 256});
  CHECK(image::size_with_shorter_side({100, 100}, 256) == ImageSize{256, 256});
}
