#pragma once
/// JPEG pictures, through libjpeg-turbo; builds without it can neither read nor write them.

#include <distribute/base/config.hpp>
#include <distribute/data/jpeg_options.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::data {

/// Whether this build has libjpeg-turbo (DISTRIBUTE_WITH_JPEG). Without it all functions here throw
/// UnimplementedError.
bool has_jpeg();

/// The size in the file's header. EXIF orientation is ignored, as in TensorFlow.
/// Throws  InvalidArgumentError when the bytes do not start as a JPEG file does.
/// Source  tf.image.extract_jpeg_shape
ImageSize jpeg_size(std::string_view bytes);

/// uint8 [height, width, channels]. Baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK
/// (made RGB as TensorFlow does).
/// Throws  InvalidArgumentError for bytes that are no JPEG file, are damaged or end early, for
///         pictures of no or more than `max_pixels` pixels (before memory is taken), and for
///         options outside of their range.
Tensor decode_jpeg(std::string_view bytes, const JpegOptions& options = {});

/// The part `window` of the decoded picture, in pixels after division by `ratio`: what is above,
/// below and beside it is not transformed, and nothing below it is read, so that damage there goes
/// unnoticed.
/// Throws  as decode_jpeg; InvalidArgumentError for a window that does not lie within the picture.
/// Source  tf.image.decode_and_crop_jpeg
Tensor decode_and_crop_jpeg(std::string_view bytes, const ImageWindow& window,
                            const JpegOptions& options = {});

/// Options of encode_jpeg(). Source  tf.io.encode_jpeg
struct EncodeJpegOptions {
  int quality = 95;  // 1 to 100
  bool progressive = false;
  bool chroma_downsampling = true;
};

/// `image` is uint8 [height, width, 1, 3 or 4], the last CMYK as Adobe writes it (inverted).
/// Throws  InvalidArgumentError for other shapes and dtypes.
std::string encode_jpeg(const Tensor& image, const EncodeJpegOptions& options = {});

}  // namespace distribute::data
