#pragma once
/// Tensors as bytes of a message.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::net {
class ByteReader;
class ByteWriter;
}  // namespace distribute::net

namespace distribute::rpc {

/// Appends dtype, shape and row-major elements; none and indexed slices stay what they are.
void write_tensor(net::ByteWriter& writer, const Tensor& tensor);
/// Throws  InvalidArgumentError for bytes that are no tensor.
Tensor read_tensor(net::ByteReader& reader);

/// A list of tensors as one text, and back.
std::string encode_tensors(const std::vector<Tensor>& tensors);
std::vector<Tensor> decode_tensors(std::string_view bytes);

/// Shape and dtype alone.
void write_shape(net::ByteWriter& writer, const Shape& shape, DType dtype);
std::pair<Shape, DType> read_shape(net::ByteReader& reader);

}  // namespace distribute::rpc
