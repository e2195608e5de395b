#pragma once
/// PNG pictures, through libpng; builds without it cannot read them.

#include <distribute/base/config.hpp>
#include <distribute/data/jpeg_options.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::data {

/// Options of decode_png(). Source  tf.io.decode_png
struct PngOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGB and alpha, 0: as many as the file has
  int64_t max_pixels = int64_t{1} << 27;
};

/// Whether this build has libpng (DISTRIBUTE_WITH_PNG). Without it all functions here throw
/// UnimplementedError.
bool has_png();

/// The size in the file's header.
/// Throws  InvalidArgumentError when the bytes do not start as a PNG file does.
ImageSize png_size(std::string_view bytes);

/// uint8 [height, width, channels] of grey, palette and colour pictures of 1 to 16 bits, interlaced
/// or not: the high byte of 16 bits, alpha dropped where it is not asked for, no gamma correction.
/// Throws  InvalidArgumentError for bytes that are no PNG file, are damaged or end early, for
///         animations (APNG), for pictures of more than `max_pixels` pixels (before memory is
///         taken), and for options outside of their range.
Tensor decode_png(std::string_view bytes, const PngOptions& options = {});

}  // namespace distribute::data
