#pragma once
/// A tensor as part of a message.

#include <distribute/base/config.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace distribute::rpc {

enum class TensorKind : uint8_t { None, Dense, Sparse };

/// What a message has of a tensor. Members that the kind does not use are empty. Elements are not
/// copied: they lie in the tensor when it is written, and in the message when it is read.
struct TensorParts {
  TensorKind kind = TensorKind::None;
  DType dtype = DType::UInt8;
  Shape shape = {};  // of the elements
  std::string_view elements = {};
  Shape dense_shape = {};  // Sparse: of the whole tensor; `shape` is that of the slices
  std::vector<int64_t> indices = {};

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, TensorKind::Sparse)("dtype", dtype, DType::Bool)("shape", shape);
    visit.view("elements", elements)("dense_shape", dense_shape)("indices", indices);
  }
};

/// Splits a tensor; `memory` keeps the elements.
TensorParts parts_of(const Tensor& tensor, Tensor& memory);
/// Returns what is wrong with the parts; an empty text if they form a tensor.
const char* problem_of(const TensorParts& parts);
Tensor tensor_of(const TensorParts& parts);

}  // namespace distribute::rpc
