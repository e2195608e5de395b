#pragma once
#if DISTRIBUTE_HAS_PNG
#include <distribute/data/decode_image.hpp>
#include <distribute/data/detail/png_reader.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE bool has_png() { return true; }

DISTRIBUTE_INLINE ImageSize png_size(std::string_view bytes) {
  return data_internal::PngReader(bytes, "png_size").size();
}

DISTRIBUTE_INLINE Tensor decode_png(std::string_view bytes, const PngOptions& options) {
  data_internal::PngReader reader(bytes, "decode_png");
  const int64_t channels = reader.start(options);
  const auto [height, width] = reader.size();
  Tensor image = Tensor::empty(Shape{height, width, channels}, DType::UInt8, Device{});
  reader.read(image.mutable_data<uint8_t>());
  return image;
}

}  // namespace distribute::data
#endif
