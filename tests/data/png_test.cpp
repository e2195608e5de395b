// Every picture of png/pictures.json, which pictures.py beside it makes with TensorFlow.

#include <distribute/data/decode_image.hpp>

#include <distribute/data/element_spec.hpp>

#include <tests/data/png_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

/// `got` is what TensorFlow has.
void check_equal(const Tensor& got, const nlohmann::json& wanted) {
  Shape shape;
  for (int64_t size : wanted["shape"]) shape.push_back(size);
  CHECK(got.shape() == shape);
  CHECK(bytes_of(got) == png_files::from_hex(wanted["bytes"]));
}

}  // namespace

TEST_CASE("PNG pictures of all kinds have TensorFlow's pixels", "[data][png]") {
  if (!has_png()) SKIP("no libpng");
  int good = 0, bad = 0;
  for (const auto& picture : png_files::all()) {
    INFO(picture["name"]);
    const std::string bytes = png_files::from_hex(picture["png"]);
    if (picture["image"] == "error") {
      ++bad;
      CHECK_THROWS_SAYING(decode_image(bytes), InvalidArgumentError, "decode_png: ");
      continue;
    }
    ++good;
    CHECK(png_size(bytes) == ImageSize{5, 7});
    check_equal(decode_image(bytes), picture["image"]);
    for (int64_t channels : {0, 1, 3, 4})
      check_equal(decode_png(bytes, {.channels = channels}), picture[std::to_string(channels)]);
  }
  CHECK(good > 40);
  CHECK(bad > 5);
}

TEST_CASE("a PNG file cut anywhere is refused", "[data][png]") {
  if (!has_png()) SKIP("no libpng");
  for (const char* name : {"rgb of 8 bits", "palette of 4 bits, interlaced"}) {
    const std::string whole = png_files::file(name);
    for (size_t size = 0; size < whole.size(); ++size)
      CHECK_THROWS_SAYING(decode_png(whole.substr(0, size)), InvalidArgumentError, "decode_png");
    CHECK_THROWS_SAYING(decode_png(whole.substr(0, whole.size() - 20)), InvalidArgumentError,
                        "the PNG file ends early");
  }
}

TEST_CASE("a header that claims a huge picture costs no memory", "[data][png]") {
  if (!has_png()) SKIP("no libpng");
  const std::string bomb = png_files::with_size(png_files::file("rgb of 8 bits"), 60'000, 50'000);
  CHECK(png_size(bomb) == ImageSize{60'000, 50'000});
  CHECK_THROWS_SAYING(decode_png(bomb), InvalidArgumentError,
                      "60000 x 50000 pixels, more than max_pixels = 134217728");
  const std::string most = png_files::with_size(bomb, INT32_MAX, INT32_MAX);
  CHECK_THROWS_SAYING(decode_png(most), InvalidArgumentError, "decode_png: ");
  const std::string small = png_files::file("rgb of 8 bits");
  CHECK_THROWS_SAYING(decode_png(small, {.max_pixels = 34}), InvalidArgumentError, "5 x 7");
}

TEST_CASE("an animated PNG is refused, as its first picture may not be meant", "[data][png]") {
  if (!has_png()) SKIP("no libpng");
  std::string file = png_files::file("rgb of 8 bits");
  const size_t behind_header = 8 + 25;
  file.insert(behind_header, png_files::chunk("acTL", std::string("\0\0\0\2\0\0\0\0", 8)));
  CHECK_THROWS_SAYING(decode_png(file), InvalidArgumentError, "animated PNG (APNG)");
  CHECK_THROWS_SAYING(png_size(file), InvalidArgumentError, "animated PNG (APNG)");
}

TEST_CASE("options of PNG outside of their range are refused", "[data][png]") {
  if (!has_png()) SKIP("no libpng");
  const std::string file = png_files::file("rgb of 8 bits");
  for (int64_t channels : {-1, 2, 5})
    CHECK_THROWS_SAYING(decode_png(file, {.channels = channels}), InvalidArgumentError,
                        "channels must be 0, 1, 3 or 4");
}

TEST_CASE("a build without libpng says what to install", "[data][png]") {
  if (has_png()) SKIP("this build has libpng");
  for (const auto call : {+[] { decode_png(""); }, +[] { png_size(""); }})
    check_throws<UnimplementedError>(call, "libpng-dev");
}
