#pragma once
/// Pictures of either format, JPEG or PNG, which their first bytes tell.

#include <distribute/base/config.hpp>
#include <distribute/data/jpeg.hpp>
#include <distribute/data/png.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::data {

enum class ImageFormat { Jpeg, Png, Gif, WebP, Bmp, Unknown };  // formats that decode_image() knows

/// By the first bytes; a file's name says nothing.
ImageFormat image_format(std::string_view bytes);

/// The size in the header of a JPEG or PNG file.
/// Throws  as decode_image.
ImageSize image_size(std::string_view bytes);

/// Options of decode_image(). Source  tf.io.decode_image
struct DecodeImageOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGB and alpha (PNG), 0: as many as the file has
  int64_t max_pixels = int64_t{1} << 27;
};

/// uint8 [height, width, channels].
/// Throws  InvalidArgumentError for other formats, which it names; as decode_jpeg and decode_png.
/// Source  tf.io.decode_image, without GIF and BMP
Tensor decode_image(std::string_view bytes, const DecodeImageOptions& options = {});

}  // namespace distribute::data
