#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>

#include <cstring>
#include <iterator>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE const char* name_of(LinkRequest request) {
  constexpr const char* names[] = {"share",     "pull",       "assign", "assign_add", "fill",
                                   "read_rows", "write_rows", "gather", "push",       "commit",
                                   "drop",      "rounds",     "flush"};
  const int number = int(request) - int(LinkRequest::Share);
  return number >= 0 && number < int(std::size(names)) ? names[number] : "unknown";
}

DISTRIBUTE_INLINE void write_origin(net::ByteWriter& head, const UpdateOrigin& origin) {
  head.number(origin.session).number(origin.function).number(origin.number).number(origin.settled);
}

DISTRIBUTE_INLINE UpdateOrigin read_origin(net::ByteReader& head) {
  UpdateOrigin origin;
  origin.session = head.number<uint64_t>();
  origin.function = head.number<uint64_t>();
  origin.number = head.number<uint64_t>();
  origin.settled = head.number<uint64_t>();
  return origin;
}

DISTRIBUTE_INLINE void narrow(const float* from, uint16_t* to, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      uint32_t bits;
      std::memcpy(&bits, from + i, sizeof bits);
      const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
      const bool nan = (bits & 0x7fffffff) > 0x7f800000;
      to[i] = uint16_t(nan ? (bits >> 16) | 0x40 : rounded);
    }
  });
}

DISTRIBUTE_INLINE void widen(const uint16_t* from, float* to, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = uint32_t(from[i]) << 16;
      std::memcpy(to + i, &bits, sizeof bits);
    }
  });
}

}  // namespace distribute::parameter_server
