#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/io/compression.hpp>

#include <cstdio>
#include <cstring>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE uint32_t big_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | uint8_t(bytes[i]);
  return value;
}

DISTRIBUTE_INLINE std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

/// Gives the element type for the third byte of the magic number.
DISTRIBUTE_INLINE DType idx_dtype(uint32_t magic, const std::string& name) {
  switch (magic >> 8 & 0xff) {
    case 0x08: return DType::UInt8;
    case 0x0c: return DType::Int32;
    case 0x0d: return DType::Float32;
  }
  throw DataLossError(str_cat(name, ": not an IDX file of uint8, int32 or float32: the magic ",
                              "number is ", hex(magic), ", expected such as 0x00000803"));
}

struct IdxHeader {
  DType dtype;
  Shape shape;
  int64_t bytes;  // size of the header
};

DISTRIBUTE_INLINE IdxHeader parse_idx_header(const std::string& bytes, const std::string& name) {
  if (bytes.size() < 4)
    throw DataLossError(str_cat(name, ": too short for an IDX file: ", bytes.size(), " bytes"));
  const uint32_t magic = big_endian(bytes.data()), rank = magic & 0xff;
  if (magic >> 16 != 0 || rank > uint32_t(Shape::kMaxRank))
    throw DataLossError(str_cat(name, ": not an IDX file: the magic number is ", hex(magic),
                                ", expected such as 0x00000803"));
  IdxHeader header{idx_dtype(magic, name), {}, 4 + 4 * int64_t(rank)};
  if (int64_t(bytes.size()) < header.bytes)
    throw DataLossError(str_cat(name, ": truncated: the header of ", header.bytes,
                                " bytes is cut off after ", bytes.size()));
  for (uint32_t i = 0; i < rank; ++i) header.shape.push_back(big_endian(bytes.data() + 4 + 4 * i));
  return header;
}

/// Throws unless the file has the length that its header implies. Sizes in a header may be
/// arbitrarily wrong.
DISTRIBUTE_INLINE void check_idx_size(const IdxHeader& header, int64_t have,
                                      const std::string& name) {
  const auto max = uint64_t(INT64_MAX);
  auto wanted = uint64_t(size_of(header.dtype));
  bool empty = false;
  for (int64_t size : header.shape) {
    empty = empty || size == 0;
    const auto factor = uint64_t(size == 0 ? 1 : size);
    wanted = wanted > max / factor ? max : wanted * factor;
  }
  if (empty && wanted < max) wanted = 0;
  if (wanted == uint64_t(have)) return;
  throw DataLossError(str_cat(name, uint64_t(have) < wanted ? ": truncated: " : ": too long: ",
                              "shape ", to_string(header.shape), " of ", name_of(header.dtype),
                              " needs ", wanted, " bytes after the header, found ", have));
}

DISTRIBUTE_INLINE Tensor swapped_words(const IdxHeader& header, const char* from) {
  Tensor result = Tensor::empty(header.shape, header.dtype);
  char* out = result.array().bytes();
  for (int64_t i = 0; i < header.shape.num_elements(); ++i) {
    const uint32_t word = big_endian(from + 4 * i);
    std::memcpy(out + 4 * i, &word, 4);
  }
  return result;
}

DISTRIBUTE_INLINE void check_labels(const Tensor& labels, int64_t num_classes,
                                    const std::string& path) {
  const auto values = labels.data<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] >= num_classes)
      throw InvalidArgumentError(str_cat(path, ": label ", i, " is ", int(values[i]),
                                         ", expected 0 to ", num_classes - 1));
}

DISTRIBUTE_INLINE Tensor read_idx_bytes(const std::string& path, int rank, const char* what) {
  Tensor values = read_idx(path);
  if (values.dtype() != DType::UInt8 || values.shape().rank() != rank)
    throw InvalidArgumentError(str_cat(path, ": expected ", what, " (uint8, ", rank,
                                       " axes), found ", name_of(values.dtype()), " ",
                                       to_string(values.shape())));
  return values;
}

}  // namespace data_internal

DISTRIBUTE_INLINE Tensor parse_idx(std::string bytes, const std::string& name) {
  const auto header = data_internal::parse_idx_header(bytes, name);
  data_internal::check_idx_size(header, int64_t(bytes.size()) - header.bytes, name);
  if (header.dtype != DType::UInt8)
    return data_internal::swapped_words(header, bytes.data() + header.bytes);
  const Tensor whole = bytes_tensor(std::move(bytes));
  return Tensor(header.shape, header.dtype, Array{whole.array().buffer, header.bytes, nullptr});
}

DISTRIBUTE_INLINE Tensor read_idx(const std::string& path) {
  std::string bytes = value_or_throw(io::read_file(path));
  if (io::is_gzip(bytes)) bytes = value_or_throw(io::decompress_gzip(bytes, path));
  return parse_idx(std::move(bytes), path);
}

DISTRIBUTE_INLINE Dataset from_idx_files(const std::string& images_path,
                                         const std::string& labels_path,
                                         const IdxOptions& options) {
  Column images{.values = data_internal::read_idx_bytes(images_path, 3, "images")};
  Column labels{.values = data_internal::read_idx_bytes(labels_path, 1, "labels")};
  const int64_t count = images.values.shape()[0];
  if (labels.values.shape()[0] != count)
    throw InvalidArgumentError(str_cat(labels_path, " has ", labels.values.shape()[0],
                                       " labels, expected ", count, ", the number of images in ",
                                       images_path));
  if (options.num_classes > 0)
    data_internal::check_labels(labels.values, options.num_classes, labels_path);
  images.dtype = options.x_dtype;
  images.divide_by = float(options.divide_x_by);
  const Shape& shape = images.values.shape();
  if (options.add_channel_axis) images.row_shape = {shape[1], shape[2], 1};
  labels.dtype = options.y_dtype;
  return Dataset(table_source(make_table({std::move(images), std::move(labels)})));
}

}  // namespace distribute::data
