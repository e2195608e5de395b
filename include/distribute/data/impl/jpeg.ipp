#pragma once
#if DISTRIBUTE_HAS_JPEG
#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/detail/jpeg_reader.hpp>

#include <cstdlib>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE Tensor decode_window(JpegReader& reader, const ImageWindow& window) {
  Tensor image =
      Tensor::empty(Shape{window.height, window.width, reader.channels()}, DType::UInt8, Device{});
  reader.read(window, image.mutable_data<uint8_t>());
  return image;
}

/// Compresses into memory that the C library owns.
class JpegWriter {
 public:
  JpegWriter() { info_.err = errors_.install(); }
  JpegWriter(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  std::string write(const Tensor& image, const EncodeJpegOptions& options) {
    const uint8_t* pixels = image.data<uint8_t>().data();
    const JDIMENSION stride = JDIMENSION(image.shape()[1] * image.shape()[2]);
    errors_.guarded([&] {
      set_up(image.shape(), options);
      while (info_.next_scanline < info_.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(pixels + size_t(info_.next_scanline) * stride);
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    return {reinterpret_cast<const char*>(bytes_), size_};
  }

 private:
  void set_up(const Shape& shape, const EncodeJpegOptions& options) {
    const int64_t channels = shape[2];
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &bytes_, &size_);
    info_.image_height = JDIMENSION(shape[0]);
    info_.image_width = JDIMENSION(shape[1]);
    info_.input_components = int(channels);
    info_.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, options.quality, TRUE);
    if (options.progressive) jpeg_simple_progression(&info_);
    if (channels == 4) info_.write_Adobe_marker = TRUE;
    if (!options.chroma_downsampling)
      info_.comp_info[0].h_samp_factor = info_.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&info_, TRUE);
  }

  JpegErrors errors_{"encode_jpeg"};
  jpeg_compress_struct info_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace data_internal

DISTRIBUTE_INLINE bool has_jpeg() { return true; }

DISTRIBUTE_INLINE ImageSize jpeg_size(std::string_view bytes) {
  return data_internal::JpegReader(bytes, "jpeg_size").file_size();
}

DISTRIBUTE_INLINE Tensor decode_jpeg(std::string_view bytes, const JpegOptions& options) {
  data_internal::JpegReader reader(bytes, "decode_jpeg");
  const ImageSize size = reader.start(options);
  return data_internal::decode_window(reader, {0, 0, size.height, size.width});
}

DISTRIBUTE_INLINE Tensor decode_and_crop_jpeg(std::string_view bytes, const ImageWindow& window,
                                              const JpegOptions& options) {
  data_internal::JpegReader reader(bytes, "decode_and_crop_jpeg");
  const ImageSize size = reader.start(options);
  if (window.y < 0 || window.x < 0 || window.height < 1 || window.width < 1 ||
      window.height > size.height - window.y || window.width > size.width - window.x)
    throw InvalidArgumentError(str_cat("decode_and_crop_jpeg: the window of ", window.height, " x ",
                                       window.width, " at (", window.y, ", ", window.x,
                                       ") does not lie within the picture of ", size.height, " x ",
                                       size.width));
  return data_internal::decode_window(reader, window);
}

DISTRIBUTE_INLINE std::string encode_jpeg(const Tensor& image, const EncodeJpegOptions& options) {
  const Shape& shape = image.shape();
  const bool fits = shape.rank() == 3 && shape[0] > 0 && shape[1] > 0 &&
                    (shape[2] == 1 || shape[2] == 3 || shape[2] == 4);
  if (!fits || image.dtype() != DType::UInt8)
    throw InvalidArgumentError(str_cat("encode_jpeg: expected uint8 [height, width, 1, 3 or 4], ",
                                       "got ", name_of(image.dtype()), " ", to_string(shape)));
  if (options.quality < 1 || options.quality > 100)
    throw InvalidArgumentError(
        str_cat("encode_jpeg: the quality is ", options.quality, ", expected 1 to 100"));
  return data_internal::JpegWriter().write(image, options);
}

}  // namespace distribute::data
#endif
