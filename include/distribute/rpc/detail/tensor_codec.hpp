#pragma once
/// Tensors and shapes as members of messages.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::net {

/// Visits the sizes of the axes.
template <>
struct FieldsOf<Shape> {
  static void visit(FieldVisitor& visit, Shape& shape);
};

/// Visits row-major elements, on any device; empty tensors and indexed slices keep their kind.
template <>
struct FieldsOf<Tensor> {
  static void visit(FieldVisitor& visit, Tensor& tensor);
};

}  // namespace distribute::net
