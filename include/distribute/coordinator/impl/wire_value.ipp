#pragma once
#include <distribute/coordinator/wire_value.hpp>

#include <cstring>
#include <limits>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE void write_tensor(net::ByteWriter& writer, const Tensor& tensor) {
  writer.number(uint8_t(bool(tensor)));
  if (!tensor) return;
  if (tensor.num_elements() * size_of(tensor.dtype()) > std::numeric_limits<uint32_t>::max())
    throw InvalidArgumentError("a remote value: a tensor of 4 GiB or more does not travel, shape " +
                               to_string(tensor.shape()));
  const Tensor here = tensor.to(Device{}).row_major();
  writer.number(uint8_t(here.dtype())).number(uint8_t(here.shape().rank()));
  for (const int64_t size : here.shape()) writer.number(size);
  dispatch(here.dtype(), [&](auto type) {
    const auto bytes = std::as_bytes(here.data<decltype(type)>());
    writer.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

DISTRIBUTE_INLINE Tensor read_tensor(net::ByteReader& reader) {
  if (!reader.number<uint8_t>()) return {};
  const auto dtype = reader.number<uint8_t>();
  const auto rank = reader.number<uint8_t>();
  Shape shape;
  for (int axis = 0; axis < rank && axis < Shape::kMaxRank; ++axis)
    shape.push_back(reader.number<int64_t>());
  const std::string_view bytes = reader.text();
  const bool known = reader.ok() && dtype <= uint8_t(DType::Bool) && rank <= Shape::kMaxRank;
  if (!known || shape.num_elements() * size_of(DType(dtype)) != int64_t(bytes.size()))
    throw DataLossError("a remote tensor's bytes are damaged");
  Tensor tensor = Tensor::empty(shape, DType(dtype));
  dispatch(DType(dtype), [&](auto type) {
    std::memcpy(tensor.mutable_data<decltype(type)>(), bytes.data(), bytes.size());
  });
  return tensor;
}

DISTRIBUTE_INLINE size_t read_count(net::ByteReader& reader) {
  return size_t(reader.number<uint64_t>());
}

}  // namespace distribute::coordinator_internal
