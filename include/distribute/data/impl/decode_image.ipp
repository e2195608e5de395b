#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>

#include <cstdio>

namespace distribute::data {

namespace data_internal {

struct FormatMark {
  std::string_view start;
  ImageFormat format;
  const char* name;
};
inline constexpr FormatMark kFormatMarks[] = {{"\xff\xd8\xff", ImageFormat::Jpeg, "JPEG"},
                                              {"\x89PNG", ImageFormat::Png, "PNG"},
                                              {"GIF8", ImageFormat::Gif, "GIF"},
                                              {"RIFF", ImageFormat::WebP, "WebP"},
                                              {"BM", ImageFormat::Bmp, "BMP"}};

[[noreturn]] DISTRIBUTE_INLINE void throw_other_format(const char* op, std::string_view bytes) {
  for (const FormatMark& mark : kFormatMarks)
    if (bytes.starts_with(mark.start))
      throw InvalidArgumentError(
          str_cat(op, ": it is a ", mark.name, " file; convert it to JPEG or PNG"));
  if (bytes.empty()) throw InvalidArgumentError(str_cat(op, ": the file is empty"));
  char start[32];
  std::snprintf(start, sizeof start, "0x%02x%02x", uint8_t(bytes[0]),
                uint8_t(bytes.size() > 1 ? bytes[1] : 0));
  throw InvalidArgumentError(
      str_cat(op, ": neither a JPEG nor a PNG file: it begins with ", start));
}

}  // namespace data_internal

DISTRIBUTE_INLINE ImageFormat image_format(std::string_view bytes) {
  for (const data_internal::FormatMark& mark : data_internal::kFormatMarks)
    if (bytes.starts_with(mark.start)) return mark.format;
  return ImageFormat::Unknown;
}

DISTRIBUTE_INLINE ImageSize image_size(std::string_view bytes) {
  switch (image_format(bytes)) {
    case ImageFormat::Jpeg: return jpeg_size(bytes);
    case ImageFormat::Png: return png_size(bytes);
    default: data_internal::throw_other_format("image_size", bytes);
  }
}

DISTRIBUTE_INLINE Tensor decode_image(std::string_view bytes, const DecodeImageOptions& options) {
  switch (image_format(bytes)) {
    case ImageFormat::Jpeg:
      return decode_jpeg(bytes, {.channels = options.channels, .max_pixels = options.max_pixels});
    case ImageFormat::Png: return decode_png(bytes, {options.channels, options.max_pixels});
    default: data_internal::throw_other_format("decode_image", bytes);
  }
}

}  // namespace distribute::data
