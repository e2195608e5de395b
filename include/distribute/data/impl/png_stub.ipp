#pragma once
#if !DISTRIBUTE_HAS_PNG
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>

namespace distribute::data {

namespace data_internal {

[[noreturn]] DISTRIBUTE_INLINE void throw_no_png() {
  throw UnimplementedError(
      "this build has no libpng and cannot read PNG pictures; " DISTRIBUTE_GET_PNG);
}

}  // namespace data_internal

DISTRIBUTE_INLINE bool has_png() { return false; }
DISTRIBUTE_INLINE ImageSize png_size(std::string_view) { data_internal::throw_no_png(); }
DISTRIBUTE_INLINE Tensor decode_png(std::string_view, const PngOptions&) {
  data_internal::throw_no_png();
}

}  // namespace distribute::data
#endif
