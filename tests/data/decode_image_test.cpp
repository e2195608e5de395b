#include <distribute/data/decode_image.hpp>

#include <distribute/data/element_spec.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/data/png_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("the first bytes tell the format of a picture", "[data][decode_image]") {
  CHECK(image_format("\xff\xd8\xff\xe0") == ImageFormat::Jpeg);
  CHECK(image_format("\x89PNG\r\n\x1a\n") == ImageFormat::Png);
  CHECK(image_format("GIF89a") == ImageFormat::Gif);
  CHECK(image_format("RIFFxxxxWEBP") == ImageFormat::WebP);
  CHECK(image_format("BM1234") == ImageFormat::Bmp);
  CHECK(image_format("\xff\xd8") == ImageFormat::Unknown);
  CHECK(image_format("") == ImageFormat::Unknown);
}

TEST_CASE("JPEG and PNG are decoded by one function", "[data][decode_image]") {
  if (!has_png() || !has_jpeg()) SKIP("no libpng or no libjpeg");
  const std::string jpeg = encode_jpeg(gradient_image(20, 30));
  CHECK(bytes_of(decode_image(jpeg)) == bytes_of(decode_jpeg(jpeg)));
  CHECK(image_size(jpeg) == ImageSize{20, 30});
  CHECK(decode_image(jpeg, {.channels = 1}).shape() == Shape{20, 30, 1});
  const std::string png = png_files::file("grey and alpha of 8 bits");
  CHECK(bytes_of(decode_image(png)) == bytes_of(decode_png(png)));
  CHECK(image_size(png) == ImageSize{5, 7});
  CHECK(decode_image(png, {.channels = 0}).shape() == Shape{5, 7, 2});
  CHECK_THROWS_SAYING(decode_image(jpeg, {.max_pixels = 599}), InvalidArgumentError, "20 x 30");
}

TEST_CASE("what is neither JPEG nor PNG is named", "[data][decode_image]") {
  CHECK_THROWS_SAYING(decode_image("GIF89a"), InvalidArgumentError,
                      "it is a GIF file; convert it to JPEG or PNG");
  CHECK_THROWS_SAYING(image_size("a text"), InvalidArgumentError,
                      "neither a JPEG nor a PNG file: it begins with 0x6120");
  CHECK_THROWS_SAYING(decode_image(""), InvalidArgumentError, "the file is empty");
}
