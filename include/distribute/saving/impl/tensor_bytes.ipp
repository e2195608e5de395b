#pragma once
#include <distribute/saving/detail/tensor_bytes.hpp>

#include <cstring>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE void append_bytes(std::string& out, const Tensor& value) {
  const bool gpu = value.device().type == DeviceType::Gpu;
  const Tensor plain = (gpu ? value.to(Device{}) : value).row_major();
  out.append(reinterpret_cast<const char*>(plain.array().bytes()),
             size_t(plain.num_elements() * size_of(plain.dtype())));
}

DISTRIBUTE_INLINE Tensor tensor_of_bytes(const Shape& shape, DType dtype, std::string_view bytes) {
  Tensor value = Tensor::empty(shape, dtype, Device{});
  auto* out = reinterpret_cast<unsigned char*>(value.array().bytes());
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  if (dtype == DType::Bool)  // any other byte would be no value of C++'s bool
    for (size_t i = 0; i < bytes.size(); ++i) out[i] = out[i] != 0;
  return value;
}

DISTRIBUTE_INLINE std::optional<Shape> shape_of_bytes(const std::vector<uint64_t>& sizes,
                                                      DType dtype, uint64_t bytes) {
  constexpr size_t kMostAxes = 32;
  if (sizes.size() > kMostAxes) return std::nullopt;
  uint64_t count = 1;
  std::vector<int64_t> dims;
  for (const uint64_t size : sizes) {
    if (size > uint64_t(INT64_MAX) || __builtin_mul_overflow(count, size, &count))
      return std::nullopt;
    dims.push_back(int64_t(size));
  }
  if (__builtin_mul_overflow(count, uint64_t(size_of(dtype)), &count) || count != bytes)
    return std::nullopt;
  return Shape(dims);
}

}  // namespace distribute::saving_internal
