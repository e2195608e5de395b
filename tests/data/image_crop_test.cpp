#include <distribute/data/image.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using data::Random;
using image::ImageSize;
using image::ImageWindow;

namespace {

/// 0, 1, 2, ... of one channel.
Tensor counted(int64_t height, int64_t width) {
  std::vector<uint8_t> pixels(size_t(height * width));
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  return Tensor(Shape{height, width, 1}, pixels);
}

}  // namespace

TEST_CASE("a window is cut out, and a picture is set into zeros", "[data][image]") {
  const Tensor part = image::crop_to_bounding_box(counted(3, 4), {1, 2, 2, 2});
  CHECK(part.to_vector() == std::vector<float>{6, 7, 10, 11});
  const Tensor framed = image::pad_to_bounding_box(part, {1, 0, 3, 3});
  CHECK(framed.to_vector() == std::vector<float>{0, 0, 0, 6, 7, 0, 10, 11, 0});
  CHECK_THROWS_SAYING(image::crop_to_bounding_box(counted(3, 4), {2, 0, 2, 2}),
                      InvalidArgumentError, "2 x 2 at (2, 0) does not lie within 3 x 4 pixels");
  CHECK_THROWS_AS(image::pad_to_bounding_box(part, {2, 0, 3, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(image::crop_to_bounding_box(zeros(Shape{3, 4}), {0, 0, 1, 1}),
                  InvalidArgumentError);
}

TEST_CASE("left and right are exchanged", "[data][image]") {
  CHECK(image::flip_left_right(counted(2, 3)).to_vector() == std::vector<float>{2, 1, 0, 5, 4, 3});
}

TEST_CASE("the window in the middle leaves the odd pixel below and right", "[data][image]") {
  CHECK(image::central_window({7, 8}, {4, 5}) == ImageWindow{1, 1, 4, 5});
  CHECK_THROWS_AS(image::central_window({7, 8}, {8, 5}), InvalidArgumentError);
}

TEST_CASE("distorted boxes keep area and ratio of sides within their ranges", "[data][image]") {
  const ImageSize size{375, 500};
  double least_area = 1, most_area = 0;
  for (uint64_t key = 0; key < 3000; ++key) {
    Random random(key);
    const ImageWindow box = image::sample_distorted_bounding_box(size, {}, random);
    REQUIRE(box.y >= 0);
    REQUIRE(box.x >= 0);
    REQUIRE(box.y + box.height <= size.height);
    REQUIRE(box.x + box.width <= size.width);
    const double area = double(box.height * box.width) / (375 * 500);
    const double aspect = double(box.width) / double(box.height);
    REQUIRE(area >= 0.1);  // min_object_covered
    REQUIRE(aspect > 0.745);
    REQUIRE(aspect < 1.34);
    least_area = std::min(least_area, area);
    most_area = std::max(most_area, area);
    Random again(key);
    REQUIRE(image::sample_distorted_bounding_box(size, {}, again) == box);
  }
  CHECK(least_area < 0.12);
  CHECK(most_area > 0.9);
}

TEST_CASE("boxes that never fit are the whole picture", "[data][image]") {
  Random random(1);
  CHECK(image::sample_distorted_bounding_box({4, 1000}, {}, random) == ImageWindow{0, 0, 4, 1000});
  CHECK(image::sample_distorted_bounding_box({1, 1}, {}, random) == ImageWindow{0, 0, 1, 1});
  CHECK_THROWS_AS(image::sample_distorted_bounding_box({0, 5}, {}, random), InvalidArgumentError);
  CHECK_THROWS_AS(
      image::sample_distorted_bounding_box({5, 5}, {.min_area = 2, .max_area = 3}, random),
      InvalidArgumentError);
}

TEST_CASE("padding and cropping shifts by up to the border, with zeros behind", "[data][image]") {
  const Tensor ones_image = ones(Shape{8, 8, 1});
  std::vector<int> rows_seen(9, 0);
  for (uint64_t key = 0; key < 300; ++key) {
    Random random(key);
    const Tensor shifted = image::pad_and_random_crop(ones_image, 4, random);
    REQUIRE(shifted.shape() == ones_image.shape());
    const auto values = shifted.to_vector();
    int rows = 0, sum = 0;
    for (int y = 0; y < 8; ++y) {
      int row = 0;
      for (int x = 0; x < 8; ++x) row += int(values[size_t(8 * y + x)]);
      rows += row > 0;
      sum += row;
    }
    REQUIRE(rows >= 4);
    REQUIRE(sum % rows == 0);
    ++rows_seen[size_t(rows)];
  }
  for (int rows = 4; rows <= 8; ++rows) CHECK(rows_seen[size_t(rows)] > 0);
  Random random(1);
  CHECK(image::pad_and_random_crop(ones_image, 0, random).to_vector() == ones_image.to_vector());
  CHECK_THROWS_AS(image::pad_and_random_crop(ones_image, -1, random), InvalidArgumentError);
}
