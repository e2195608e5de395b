#pragma once
/// A tensor as it travels in a message.

#include <distribute/base/config.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace distribute::rpc {

enum class TensorKind : uint8_t { None, Dense, Sparse };

/// What a kind does not use is empty. Elements are not copied: when a tensor is written they lie in
/// it, when it is read, in the message.
struct TensorParts {
  TensorKind kind = TensorKind::None;
  DType dtype = DType::UInt8;
  Shape shape = {};  // of the elements
  std::string_view elements = {};
  Shape dense_shape = {};  // Sparse: of the whole; `shape` is that of the slices
  std::vector<int64_t> indices = {};

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, TensorKind::Sparse)("dtype", dtype, DType::Bool)("shape", shape);
    visit.view("elements", elements)("dense_shape", dense_shape)("indices", indices);
  }
};

/// `memory` keeps the elements.
TensorParts parts_of(const Tensor& tensor, Tensor& memory);
/// Empty text: they make a tensor; otherwise what is wrong with them.
const char* problem_of(const TensorParts& parts);
Tensor tensor_of(const TensorParts& parts);

}  // namespace distribute::rpc
