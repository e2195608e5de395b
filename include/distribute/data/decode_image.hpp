#pragma once
/// Decodes JPEG and PNG files to pixels.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::data {

/// The way in which the inverse cosine transform is computed. IntegerFast is what `dct_method=""`
/// means in TensorFlow; with it and fancy upscaling pixels equal tf.io.decode_jpeg's.
enum class DctMethod { IntegerFast, IntegerAccurate };

/// Holds the options of decode_jpeg(). Source  tf.io.decode_jpeg
struct JpegOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 0: as many as the file has
  int64_t ratio = 1;     // 1, 2, 4 or 8: decodes to 1/ratio of the size, rounded up
  DctMethod dct_method = DctMethod::IntegerFast;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;  // missing pixels become grey
  int64_t max_pixels = int64_t{1} << 27;
};

struct ImageSize {  // height, width and channels
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// A part of a picture, in pixels.
struct ImageWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const ImageWindow&) const = default;
};

/// Returns whether this build has libjpeg-turbo (DISTRIBUTE_WITH_JPEG). Without it all functions
/// here throw UnimplementedError.
bool has_jpeg();

/// Reads the size from the file's header. EXIF orientation is ignored, as in TensorFlow.
/// Throws  InvalidArgumentError when the bytes do not start as a JPEG file does.
/// Source  tf.image.extract_jpeg_shape
ImageSize jpeg_size(std::string_view bytes);

/// Decodes to uint8 [height, width, channels]. It reads baseline and progressive files with grey,
/// YCbCr, RGB, CMYK and YCCK pixels; the last two become RGB as in TensorFlow.
/// Throws  InvalidArgumentError for bytes that are not a JPEG file, are damaged or end early, for
///         pictures of no or more than `max_pixels` pixels (before memory is taken), and for
///         options outside of their range.
Tensor decode_jpeg(std::string_view bytes, const JpegOptions& options = {});

/// Decodes the part `window` of the picture, in pixels after division by `ratio`. The rest of the
/// picture is not transformed, and nothing below the window is read, so that damage there goes
/// unnoticed.
/// Throws  what decode_jpeg() throws; InvalidArgumentError for a window that does not lie within
///         the picture.
/// Source  tf.image.decode_and_crop_jpeg
Tensor decode_and_crop_jpeg(std::string_view bytes, const ImageWindow& window,
                            const JpegOptions& options = {});

/// Holds the options of encode_jpeg(). Source  tf.io.encode_jpeg
struct EncodeJpegOptions {
  int quality = 95;  // 1 to 100
  bool progressive = false;
  bool chroma_downsampling = true;
};

/// Encodes `image`, uint8 [height, width, 1, 3 or 4]; four channels are CMYK as Adobe writes it
/// (inverted).
/// Throws  InvalidArgumentError for other shapes and dtypes.
std::string encode_jpeg(const Tensor& image, const EncodeJpegOptions& options = {});

/// Holds the options of decode_png(). Source  tf.io.decode_png
struct PngOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGB and alpha, 0: as many as the file has
  int64_t max_pixels = int64_t{1} << 27;
};

/// Returns whether this build has libpng (DISTRIBUTE_WITH_PNG). Without it all functions here throw
/// UnimplementedError.
bool has_png();

/// Reads the size from the file's header.
/// Throws  InvalidArgumentError when the bytes do not start as a PNG file does.
ImageSize png_size(std::string_view bytes);

/// Decodes to uint8 [height, width, channels]. It reads grey, palette and colour pictures of 1 to
/// 16 bits, interlaced or not. Of 16 bits the high byte is kept, alpha is dropped unless it is
/// asked for, and gamma is not corrected.
/// Throws  InvalidArgumentError for bytes that are not a PNG file, are damaged or end early, for
///         animations (APNG), for pictures of more than `max_pixels` pixels (before memory is
///         taken), and for options outside of their range.
Tensor decode_png(std::string_view bytes, const PngOptions& options = {});

enum class ImageFormat { Jpeg, Png, Gif, WebP, Bmp, Unknown };  // formats that decode_image() knows

/// Finds the format by the first bytes; the name of a file does not matter.
ImageFormat image_format(std::string_view bytes);

/// Reads the size from the header of a JPEG or PNG file.
/// Throws  what decode_image() throws.
ImageSize image_size(std::string_view bytes);

/// Holds the options of decode_image(). Source  tf.io.decode_image
struct DecodeImageOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGB and alpha (PNG), 0: as many as the file has
  int64_t max_pixels = int64_t{1} << 27;
};

/// Decodes to uint8 [height, width, channels].
/// Throws  InvalidArgumentError that names the format when it is another one; what decode_jpeg()
///         and decode_png() throw.
/// Source  tf.io.decode_image, without GIF and BMP
Tensor decode_image(std::string_view bytes, const DecodeImageOptions& options = {});

}  // namespace distribute::data
