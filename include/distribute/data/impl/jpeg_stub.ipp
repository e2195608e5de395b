#pragma once
#if !DISTRIBUTE_HAS_JPEG
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>

namespace distribute::data {

namespace data_internal {

[[noreturn]] DISTRIBUTE_INLINE void throw_no_jpeg() {
  throw UnimplementedError(
      "this build has no libjpeg-turbo and cannot read or write JPEG "
      "pictures; " DISTRIBUTE_GET_JPEG);
}

}  // namespace data_internal

DISTRIBUTE_INLINE bool has_jpeg() { return false; }
DISTRIBUTE_INLINE ImageSize jpeg_size(std::string_view) { data_internal::throw_no_jpeg(); }
DISTRIBUTE_INLINE Tensor decode_jpeg(std::string_view, const JpegOptions&) {
  data_internal::throw_no_jpeg();
}
DISTRIBUTE_INLINE Tensor decode_and_crop_jpeg(std::string_view, const ImageWindow&,
                                              const JpegOptions&) {
  data_internal::throw_no_jpeg();
}
DISTRIBUTE_INLINE std::string encode_jpeg(const Tensor&, const EncodeJpegOptions&) {
  data_internal::throw_no_jpeg();
}

}  // namespace distribute::data
#endif
