#pragma once
#include <distribute/net/bytes.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <cstring>

namespace distribute::rpc {

enum class TensorKind : uint8_t { None, Dense, Sparse };

[[noreturn]] DISTRIBUTE_INLINE void throw_damaged(const char* what) {
  throw InvalidArgumentError(str_cat("the bytes of a message are no tensor: ", what));
}

DISTRIBUTE_INLINE void write_shape(net::ByteWriter& writer, const Shape& shape, DType dtype) {
  writer.number(uint8_t(dtype)).number(uint8_t(shape.rank()));
  for (const int64_t size : shape) writer.number(size);
}

DISTRIBUTE_INLINE std::pair<Shape, DType> read_shape(net::ByteReader& reader) {
  const auto dtype = reader.number<uint8_t>();
  const auto rank = reader.number<uint8_t>();
  if (dtype > uint8_t(DType::Bool)) throw_damaged("unknown dtype");
  if (rank > Shape::kMaxRank) throw_damaged("too many axes");
  Shape shape;
  double elements = 1;
  for (int i = 0; i < rank; ++i) {
    const auto size = reader.number<int64_t>();
    elements *= double(size);
    if (size < 0 || elements > 1e15) throw_damaged("impossible size");
    shape.push_back(size);
  }
  if (!reader.ok()) throw_damaged("they end too early");
  return {shape, DType(dtype)};
}

DISTRIBUTE_INLINE void write_tensor(net::ByteWriter& writer, const Tensor& tensor) {
  if (!tensor) {
    writer.number(uint8_t(TensorKind::None));
    return;
  }
  if (is_indexed_slices(tensor)) {
    const IndexedSlices slices = indexed_slices(tensor);
    writer.number(uint8_t(TensorKind::Sparse));
    write_shape(writer, slices.dense_shape, slices.values.dtype());
    write_tensor(writer, slices.values);
    write_tensor(writer, slices.indices);
    return;
  }
  const bool on_gpu = tensor.device().type == DeviceType::Gpu;
  const Tensor plain = on_gpu ? tensor.to(Device{}) : tensor.row_major();
  writer.number(uint8_t(TensorKind::Dense));
  write_shape(writer, plain.shape(), plain.dtype());
  const size_t bytes = size_t(plain.num_elements() * size_of(plain.dtype()));
  if (bytes > std::numeric_limits<uint32_t>::max())
    throw ResourceExhaustedError(str_cat("a tensor of ", bytes, " bytes does not fit a message"));
  writer.text({plain.array().bytes(), bytes});
}

DISTRIBUTE_INLINE TensorKind read_kind(net::ByteReader& reader) {
  const auto kind = TensorKind(reader.number<uint8_t>());
  if (!reader.ok()) throw_damaged("they end too early");
  return kind;
}

/// Behind its kind.
DISTRIBUTE_INLINE Tensor read_dense(net::ByteReader& reader, TensorKind kind) {
  if (kind != TensorKind::Dense) throw_damaged("unknown kind");
  const auto [shape, dtype] = read_shape(reader);
  const std::string_view bytes = reader.text();
  if (!reader.ok() || int64_t(bytes.size()) != shape.num_elements() * size_of(dtype))
    throw_damaged("size and shape do not fit");
  const Tensor tensor = Tensor::empty(shape, dtype, Device{});
  std::memcpy(tensor.array().bytes(), bytes.data(), bytes.size());
  return tensor;
}

/// The parts of indexed slices are dense: nothing nests, however a message was made.
DISTRIBUTE_INLINE Tensor read_tensor(net::ByteReader& reader) {
  const TensorKind kind = read_kind(reader);
  if (kind == TensorKind::None) return {};
  if (kind != TensorKind::Sparse) return read_dense(reader, kind);
  const auto [shape, dtype] = read_shape(reader);
  const Tensor values = read_dense(reader, read_kind(reader));
  const Tensor indices = read_dense(reader, read_kind(reader));
  if (indices.dtype() != DType::Int64 || indices.shape().rank() != 1)
    throw_damaged("bad indexed slices");
  return to_tensor(IndexedSlices{values, indices, shape});
}

DISTRIBUTE_INLINE std::string encode_tensors(const std::vector<Tensor>& tensors) {
  net::ByteWriter writer;
  writer.number(uint32_t(tensors.size()));
  for (const Tensor& tensor : tensors) write_tensor(writer, tensor);
  return writer.take();
}

DISTRIBUTE_INLINE std::vector<Tensor> decode_tensors(std::string_view bytes) {
  net::ByteReader reader(bytes);
  const auto count = reader.number<uint32_t>();
  std::vector<Tensor> tensors;
  for (uint32_t i = 0; i < count; ++i) tensors.push_back(read_tensor(reader));
  if (!reader.finished()) throw_damaged("something is left over");
  return tensors;
}

}  // namespace distribute::rpc
