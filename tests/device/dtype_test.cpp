#include <distribute/device/dtype.hpp>

#include "../support/catch.hpp"

using namespace distribute;

namespace {

template <typename Half>
Half half_of(uint32_t bits) {
  Half half;
  half.bits = uint16_t(bits);
  return half;
}

/// True when conversions of every number between two neighbours go to the nearer one. The point
/// in the middle is a float32 for both types; it goes to the neighbour with an even last bit.
/// `infinity` is the pattern above the largest finite number.
template <typename Half>
bool rounds_to_nearest_even(uint32_t infinity, float overflow) {
  for (uint32_t bits = 0; bits < infinity; ++bits)
    for (uint32_t sign : {0u, 0x8000u}) {
      const float flip = sign ? -1.0f : 1.0f;
      const float low = std::abs(float(half_of<Half>(bits)));
      const float high = bits + 1 == infinity ? overflow : float(half_of<Half>(bits + 1));
      const float middle = float((double(low) + double(high)) / 2);
      const auto converted = [&](float value) { return uint32_t(Half(flip * value).bits); };
      if (converted(low) != (bits | sign)) return false;
      if (converted(middle) != ((bits + (bits & 1)) | sign)) return false;
      if (converted(std::nextafter(middle, 0.0f)) != (bits | sign)) return false;
      if (converted(std::nextafter(middle, 4 * high)) != ((bits + 1) | sign)) return false;
    }
  return true;
}

template <typename Half>
bool keeps_nan(uint32_t infinity) {
  for (uint32_t bits = infinity + 1; bits < 0x8000; ++bits)
    for (uint32_t sign : {0u, 0x8000u}) {
      const float value = half_of<Half>(bits | sign);
      if (!std::isnan(value) || !std::isnan(float(Half(value)))) return false;
    }
  return std::isnan(float(Half(std::bit_cast<float>(0x7f800001u))));  // payload in the low bits
}

}  // namespace

TEST_CASE("float16 rounds to nearest even everywhere", "[device][dtype]") {
  CHECK(rounds_to_nearest_even<float16>(0x7c00, 65536.0f));
  CHECK(keeps_nan<float16>(0x7c00));
}

TEST_CASE("float16 has the values of IEEE binary16", "[device][dtype]") {
  CHECK(float(half_of<float16>(0x3c00)) == 1.0f);
  CHECK(float(half_of<float16>(0x7bff)) == 65504.0f);
  CHECK(float(half_of<float16>(0x0001)) == 0x1p-24f);
  CHECK(float(half_of<float16>(0x0400)) == 0x1p-14f);
  CHECK(float(half_of<float16>(0xfc00)) == -std::numeric_limits<float>::infinity());
  CHECK(std::signbit(float(half_of<float16>(0x8000))));
  CHECK(float16(std::numeric_limits<float>::infinity()).bits == 0x7c00);
  CHECK(float16(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(float16(std::numeric_limits<float>::max()).bits == 0x7c00);
  CHECK(float16(-0.0f).bits == 0x8000);
}

TEST_CASE("bfloat16 rounds to nearest even everywhere", "[device][dtype]") {
  // Beyond the largest number the next step would be 2^128, which float32 lacks.
  bool same = true;
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const uint32_t word = bits << 16;
    const auto converted = [](uint32_t w) {
      return uint32_t(bfloat16(std::bit_cast<float>(w)).bits);
    };
    same &= converted(word) == bits;
    same &= converted(word + 0x7fff) == bits;
    same &= converted(word + 0x8000) == bits + (bits & 1);
    same &= converted(word + 0x8001) == bits + 1;
    same &= converted((word + 0x8001) | 0x80000000) == ((bits + 1) | 0x8000);
    same &= float(half_of<bfloat16>(bits)) == std::bit_cast<float>(word);
  }
  CHECK(same);
  CHECK(keeps_nan<bfloat16>(0x7f80));
  CHECK(bfloat16(std::numeric_limits<float>::infinity()).bits == 0x7f80);
}

TEST_CASE("element types know their size, name and kind", "[device][dtype]") {
  const DType types[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                         DType::Int64,   DType::UInt8,    DType::Bool};
  std::string names;
  for (DType type : types) {
    names += std::string(name_of(type)) + " ";
    dispatch(type, [&](auto element) {
      CHECK(dtype_of<decltype(element)> == type);
      CHECK(int64_t(sizeof(element)) == size_of(type));
    });
  }
  CHECK(names == "float32 bfloat16 float16 int32 int64 uint8 bool ");
  CHECK(is_floating(DType::BFloat16));
  CHECK_FALSE(is_floating(DType::Int64));
  CHECK(Element<const float>);
  CHECK_FALSE(Element<double>);
}
