#pragma once
#include <distribute/data/element_spec.hpp>

#include <memory>
#include <utility>

namespace distribute::data {

DISTRIBUTE_INLINE Tensor bytes_tensor(std::string bytes) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  const int64_t size = int64_t(owner->size());
  auto buffer = std::make_shared<Buffer>(owner->data(), size, Device{},
                                         [owner] {});  // the lambda keeps the bytes alive
  return Tensor(Shape{size}, DType::UInt8, Array{std::move(buffer), 0, nullptr});
}

DISTRIBUTE_INLINE std::string_view bytes_of(const Tensor& tensor) {
  const auto bytes = tensor.data<uint8_t>();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace distribute::data
