#include <distribute/data/image.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using image::resize;
using image::ResizeMethod;

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

Tensor first_channel(const Tensor& image) {
  return strided_slice(image, {Range{}, Range{}, Range{.begin = 0, .end = 1}});
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

// Made by tf.image.resize(image[:, :, :1], ..., method, antialias=...) of TensorFlow 2.21.
TEST_CASE("resize has the methods of TensorFlow", "[data][image]") {
  struct Row {
    ResizeMethod method;
    bool antialias;
    std::vector<double> smaller, larger;  // [5, 7] -> [2, 3] and [2, 2] -> [3, 3]
  };
  const std::vector<Row> rows{
      {ResizeMethod::Nearest,
       false,
       {241, 247, 156, 3, 83, 66},
       {0, 115, 115, 233, 241, 241, 233, 241, 241}},
      {ResizeMethod::Nearest,
       true,
       {241, 247, 156, 3, 83, 66},
       {0, 115, 115, 233, 241, 241, 233, 241, 241}},
      {ResizeMethod::Bicubic,
       false,
       {213.5454, 216.687, 181.3502, 69.82524, 60.67939, 80.00742},
       {-23.39384, 45.67295, 114.7397, 112.4478, 147.25, 182.0521, 248.2895, 248.827, 249.3645}},
      {ResizeMethod::Bicubic,
       true,
       {157.1328, 170.8896, 168.028, 161.1517, 125.4891, 87.35159},
       {-23.35776, 45.69084, 114.7395, 112.454, 147.25, 182.0461, 248.2658, 248.8092, 249.3527}},
      {ResizeMethod::Lanczos3,
       false,
       {210.3132, 211.2491, 181.4833, 67.62605, 58.18395, 76.59325},
       {-44.85306, 35.21525, 115.2836, 108.8648, 147.25, 185.6351, 262.5828, 259.2847, 255.9868}},
      {ResizeMethod::Lanczos3,
       true,
       {154.7877, 171.1492, 169.5674, 168.0569, 124.2598, 83.94495},
       {-44.85306, 35.21525, 115.2836, 108.8648, 147.25, 185.6351, 262.5828, 259.2847, 255.9868}},
      {ResizeMethod::Lanczos5,
       false,
       {205.3211, 211.5267, 186.2199, 67.35928, 60.88886, 68.36537},
       {-54.71131, 30.52598, 115.7633, 107.2582, 147.25, 187.2418, 269.2277, 263.974, 258.7203}},
      {ResizeMethod::Lanczos5,
       true,
       {153.8966, 171.4191, 170.3187, 171.1487, 123.3417, 83.50092},
       {-54.71131, 30.52598, 115.7633, 107.2582, 147.25, 187.2418, 269.2277, 263.974, 258.7203}},
      {ResizeMethod::Area,
       false,
       {152.7428, 168.8286, 167.7715, 155.6572, 129.8, 86.80001},
       {0, 57.50001, 115, 116.5, 147.25, 178, 233, 237, 241}},
      {ResizeMethod::Area,
       true,
       {152.7428, 168.8286, 167.7715, 155.6572, 129.8, 86.80001},
       {0, 57.50001, 115, 116.5, 147.25, 178, 233, 237, 241}},
      {ResizeMethod::Gaussian,
       false,
       {192.382, 199.4231, 180.1046, 101.6213, 89.55327, 85.38178},
       {22.15763, 69.16196, 116.1663, 120.4956, 147.25, 174.0044, 218.8336, 225.338, 231.8425}},
      {ResizeMethod::Gaussian,
       true,
       {157.4068, 163.9978, 160.2175, 157.1161, 129.8289, 101.0034},
       {22.15763, 69.16196, 116.1663, 120.4956, 147.25, 174.0044, 218.8336, 225.338, 231.8425}},
      {ResizeMethod::MitchellCubic,
       false,
       {201.1124, 206.4923, 181.7565, 87.34185, 74.92562, 82.39827},
       {-2.694835, 56.11329, 114.9214, 116.0249, 147.25, 178.4751, 234.7447, 238.3867, 242.0288}},
      {ResizeMethod::MitchellCubic,
       true,
       {157.048, 167.2033, 163.9447, 160.4244, 127.7873, 93.79929},
       {-2.694835, 56.11329, 114.9214, 116.0249, 147.25, 178.4751, 234.7447, 238.3867, 242.0288}},
  };
  for (const auto& [method, antialias, smaller, larger] : rows) {
    INFO(int(method) << ", antialias " << antialias);
    const image::ResizeOptions options{.antialias = antialias, .method = method};
    check_close(resize(first_channel(pattern(5, 7)), {2, 3}, options), smaller, 2e-5);
    check_close(resize(first_channel(pattern(2, 2)), {3, 3}, options), larger, 2e-5);
  }
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
