#include <distribute/data/decode_image.hpp>

#include <distribute/data/element_spec.hpp>
#include <distribute/data/image.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

uint32_t crc_of(const Tensor& image) { return io::crc32c(bytes_of(image)); }

/// A JPEG file whose header claims another size.
std::string with_size(std::string jpeg, int height, int width) {
  const size_t frame = jpeg.find("\xff\xc0");
  for (int i = 0; i < 2; ++i) {
    jpeg[frame + 5 + size_t(i)] = char(height >> (8 - 8 * i));
    jpeg[frame + 7 + size_t(i)] = char(width >> (8 - 8 * i));
  }
  return jpeg;
}

}  // namespace

TEST_CASE("a picture survives writing and reading, baseline and progressive", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const Tensor image = gradient_image(45, 70);
  for (bool progressive : {false, true}) {
    const std::string bytes = encode_jpeg(image, {.progressive = progressive});
    CHECK(jpeg_size(bytes) == ImageSize{45, 70});
    const Tensor decoded = decode_jpeg(bytes);
    CHECK(decoded.shape() == image.shape());
    CHECK(mean_difference(decoded, image) < 2);
    CHECK((bytes.find("\xff\xc2") != std::string::npos) == progressive);
  }
  CHECK(encode_jpeg(image, {.quality = 30}).size() < encode_jpeg(image).size());
}

TEST_CASE("colours become what is asked for", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string grey = encode_jpeg(gradient_image(20, 30, 1));
  CHECK(decode_jpeg(grey, {.channels = 0}).shape() == Shape{20, 30, 1});
  const Tensor as_rgb = decode_jpeg(grey);
  REQUIRE(as_rgb.shape() == Shape{20, 30, 3});
  const Tensor plain = decode_jpeg(grey, {.channels = 1});
  for (size_t i = 0; i < 600; ++i)
    for (size_t c = 0; c < 3; ++c)
      REQUIRE(as_rgb.data<uint8_t>()[3 * i + c] == plain.data<uint8_t>()[i]);
  const std::string colours = encode_jpeg(gradient_image(20, 30));
  CHECK(decode_jpeg(colours, {.channels = 1}).shape() == Shape{20, 30, 1});
}

TEST_CASE("CMYK becomes RGB, inverted as Adobe writes it", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 32 * 32; ++i) pixels.insert(pixels.end(), {200, 100, 50, 128});
  std::string bytes =
      encode_jpeg(Tensor(Shape{32, 32, 4}, pixels), {.quality = 100, .chroma_downsampling = false});
  const auto close_to = [](const Tensor& image, int r, int g, int b) {
    const auto values = image.data<uint8_t>();
    CHECK(std::abs(int(values[0]) - r) <= 1);
    CHECK(std::abs(int(values[1]) - g) <= 1);
    CHECK(std::abs(int(values[2]) - b) <= 1);
  };
  const Tensor decoded = decode_jpeg(bytes);
  REQUIRE(decoded.shape() == Shape{32, 32, 3});
  close_to(decoded, 200 * 128 / 255, 100 * 128 / 255, 50 * 128 / 255);
  CHECK(decode_jpeg(bytes, {.channels = 0}).shape() == Shape{32, 32, 3});
  const size_t adobe = bytes.find("Adobe");
  REQUIRE(adobe != std::string::npos);
  bytes[adobe] = 'a';  // not inverted then
  close_to(decode_jpeg(bytes), 55 * 127 / 255, 155 * 127 / 255, 205 * 127 / 255);
}

TEST_CASE("YCCK becomes RGB through CMYK", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 32 * 32; ++i) pixels.insert(pixels.end(), {120, 140, 110, 128});
  std::string bytes =
      encode_jpeg(Tensor(Shape{32, 32, 4}, pixels), {.quality = 100, .chroma_downsampling = false});
  const size_t adobe = bytes.find("Adobe");
  REQUIRE(adobe != std::string::npos);
  bytes[adobe + 11] = 2;  // the same numbers, now meant as Y, Cb, Cr and K
  const double y = 120, cb = 140 - 128, cr = 110 - 128, k = 128 / 255.0;
  const double wanted[] = {(255 - (y + 1.402 * cr)) * k,
                           (255 - (y - 0.344136 * cb - 0.714136 * cr)) * k,
                           (255 - (y + 1.772 * cb)) * k};
  const Tensor decoded = decode_jpeg(bytes);
  REQUIRE(decoded.shape() == Shape{32, 32, 3});
  for (size_t c = 0; c < 3; ++c)
    CHECK(std::abs(double(decoded.data<uint8_t>()[c]) - wanted[c]) <= 2);
}

TEST_CASE("pixels are those that TensorFlow decodes", "[data][jpeg]") {
  const auto folder = shared_data("photos");
  if (!folder || !has_jpeg()) SKIP("no photographs or no libjpeg");
  struct Wanted {
    const char* name;
    ImageSize size;
    uint32_t whole, cropped, quarter, grey;  // CRC-32C of the pixels, from TensorFlow 2.21
  };
  for (const Wanted& wanted :
       {Wanted{"n01440764_tench", {375, 500}, 0x41b5930f, 0x9281e036, 0x5c2a7eb8, 0xa65e391d},
        Wanted{
            "n02088094_Afghan_hound", {333, 500}, 0x4f480403, 0x28887c82, 0xab68aa4e, 0xdea38569},
        Wanted{
            "n07718747_artichoke", {332, 500}, 0x6260ba6d, 0xf9b3ccee, 0x474e3096, 0x34705dba}}) {
    const std::string bytes = *io::read_file(*folder + "/" + wanted.name + ".JPEG");
    const auto [height, width] = jpeg_size(bytes);
    CHECK(ImageSize{height, width} == wanted.size);
    CHECK(crc_of(decode_jpeg(bytes)) == wanted.whole);
    const ImageWindow window{height / 5, width / 7, height / 2, width / 3};
    CHECK(crc_of(decode_and_crop_jpeg(bytes, window)) == wanted.cropped);
    CHECK(crc_of(decode_jpeg(bytes, {.ratio = 4})) == wanted.quarter);
    CHECK(crc_of(decode_jpeg(bytes, {.channels = 1})) == wanted.grey);
  }
}

TEST_CASE("scaled decoding rounds sizes up and keeps colours", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string bytes = encode_jpeg(gradient_image(45, 70));
  for (int64_t ratio : {2, 4, 8}) {
    const Tensor image = decode_jpeg(bytes, {.ratio = ratio});
    CHECK(image.shape() == Shape{(45 + ratio - 1) / ratio, (70 + ratio - 1) / ratio, 3});
    const auto values = image.to_vector(), whole = decode_jpeg(bytes).to_vector();
    double small = 0, large = 0;
    for (float value : values) small += double(value) / double(values.size());
    for (float value : whole) large += double(value) / double(whole.size());
    CHECK(small == Approx(large).margin(3));
  }
}

TEST_CASE("a window is that part of the picture, at every kind of border", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const Tensor image = gradient_image(61, 83);
  for (bool progressive : {false, true}) {
    const std::string bytes =
        encode_jpeg(image, {.progressive = progressive, .chroma_downsampling = false});
    const Tensor whole = decode_jpeg(bytes);
    for (const ImageWindow& window :
         {ImageWindow{0, 0, 61, 83}, ImageWindow{0, 0, 1, 1}, ImageWindow{60, 82, 1, 1},
          ImageWindow{17, 5, 30, 40}, ImageWindow{8, 16, 16, 8}, ImageWindow{0, 82, 61, 1}}) {
      const Tensor part = decode_and_crop_jpeg(bytes, window);
      CHECK(part.to_vector() == image::crop_to_bounding_box(whole, window).to_vector());
    }
  }
  const std::string bytes = encode_jpeg(image);
  for (const ImageWindow& window : {ImageWindow{0, 0, 62, 1}, ImageWindow{-1, 0, 5, 5},
                                    ImageWindow{0, 83, 1, 1}, ImageWindow{0, 0, 0, 1}})
    CHECK_THROWS_SAYING(decode_and_crop_jpeg(bytes, window), InvalidArgumentError,
                        "does not lie within the picture of 61 x 83");
}

TEST_CASE("a picture that ends early is refused unless recovery is asked for", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  for (bool progressive : {false, true}) {
    const std::string bytes = encode_jpeg(gradient_image(64, 64), {.progressive = progressive});
    for (size_t size = 0; size < bytes.size() - 2; size += 7)
      CHECK_THROWS_AS(decode_jpeg(std::string_view(bytes).substr(0, size)), InvalidArgumentError);
    const auto half = std::string_view(bytes).substr(0, bytes.size() * 2 / 3);
    CHECK_THROWS_SAYING(decode_jpeg(half), InvalidArgumentError, "Premature end of JPEG file");
    CHECK(decode_jpeg(half, {.try_recover_truncated = true}).shape() == Shape{64, 64, 3});
  }
}

TEST_CASE("bytes that are no JPEG file are refused with the reason", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  CHECK_THROWS_SAYING(decode_jpeg("\x89PNG and so on"), InvalidArgumentError, "Not a JPEG file");
  CHECK_THROWS_AS(decode_jpeg(""), InvalidArgumentError);
  CHECK_THROWS_AS(jpeg_size("\xff"), InvalidArgumentError);
}

TEST_CASE("pictures without or with too many pixels cost no memory", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string bytes = encode_jpeg(gradient_image(16, 16));
  CHECK_THROWS_AS(decode_jpeg(with_size(bytes, 0, 16)), InvalidArgumentError);
  CHECK_THROWS_AS(decode_jpeg(with_size(bytes, 16, 0)), InvalidArgumentError);
  const std::string huge = with_size(bytes, 20'000, 20'000);
  CHECK(jpeg_size(huge) == ImageSize{20'000, 20'000});
  CHECK_THROWS_SAYING(decode_jpeg(huge), InvalidArgumentError,
                      "20000 x 20000 pixels, more than max_pixels = 134217728");
  CHECK_THROWS_SAYING(decode_jpeg(bytes, {.max_pixels = 255}), InvalidArgumentError,
                      "max_pixels = 255");
}

TEST_CASE("the orientation in EXIF is ignored", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string plain = encode_jpeg(gradient_image(20, 30));
  const std::string exif(
      "\xff\xe1\x00\x22"
      "Exif\0\0MM\0*\0\0\0\x08"  // a quarter turn
      "\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
      36);
  const std::string turned = plain.substr(0, 2) + exif + plain.substr(2);
  CHECK(jpeg_size(turned) == ImageSize{20, 30});
  CHECK(decode_jpeg(turned).to_vector() == decode_jpeg(plain).to_vector());
}

TEST_CASE("a progressive picture of very many scans is refused", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  std::string bytes = encode_jpeg(gradient_image(64, 64), {.progressive = true});
  const size_t last = bytes.rfind("\xff\xda");
  const std::string scan = bytes.substr(last, bytes.size() - 2 - last);
  const auto with_scans = [&](int more) {
    std::string result = bytes.substr(0, bytes.size() - 2);
    for (int i = 0; i < more; ++i) result += scan;
    return result + "\xff\xd9";
  };
  const JpegOptions any{.try_recover_truncated = true};  // repeated scans are damage, too
  CHECK(decode_jpeg(with_scans(100), any).shape() == Shape{64, 64, 3});
  CHECK_THROWS_SAYING(decode_jpeg(with_scans(600), any), InvalidArgumentError,
                      "more than 500 scans");
}

TEST_CASE("options outside of their range are refused", "[data][jpeg]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string bytes = encode_jpeg(gradient_image(16, 16));
  CHECK_THROWS_SAYING(decode_jpeg(bytes, {.channels = 4}), InvalidArgumentError, "got 4");
  CHECK_THROWS_SAYING(decode_jpeg(bytes, {.ratio = 3}), InvalidArgumentError, "got 3");
  CHECK_THROWS_AS(encode_jpeg(gradient_image(16, 16, 2)), InvalidArgumentError);
  CHECK_THROWS_AS(encode_jpeg(zeros(Shape{16, 16, 3})), InvalidArgumentError);
  CHECK_THROWS_AS(encode_jpeg(gradient_image(16, 16), {.quality = 0}), InvalidArgumentError);
}

TEST_CASE("a build without libjpeg says what to install", "[data][jpeg]") {
  if (has_jpeg()) SKIP("this build has libjpeg");
  CHECK_THROWS_SAYING(decode_jpeg(""), UnimplementedError, "libjpeg-dev");
}
