#pragma once
/// Tensors and shapes as members of messages.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::net {

/// The sizes of the axes.
template <>
struct FieldsOf<Shape> {
  static void visit(FieldVisitor& visit, Shape& shape);
};

/// Row-major elements, wherever the tensor lies; none and indexed slices stay what they are.
template <>
struct FieldsOf<Tensor> {
  static void visit(FieldVisitor& visit, Tensor& tensor);
};

}  // namespace distribute::net
