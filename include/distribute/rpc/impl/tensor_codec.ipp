#pragma once
#include <distribute/rpc/detail/tensor_codec.hpp>
#include <distribute/rpc/detail/tensor_parts.hpp>

namespace distribute::net {

DISTRIBUTE_INLINE void FieldsOf<Shape>::visit(FieldVisitor& visit, Shape& shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  visit("sizes", sizes, Shape::kMaxRank);
  if (!visit.fills() || !visit.ok()) return;
  shape = {};
  double elements = 1;
  for (const int64_t size : sizes) {
    elements *= double(size);
    if (size < 0 || elements > 1e15) return visit.refuse("has an impossible size");
    shape.push_back(size);
  }
}

DISTRIBUTE_INLINE void FieldsOf<Tensor>::visit(FieldVisitor& visit, Tensor& tensor) {
  Tensor memory;
  rpc::TensorParts parts;
  if (!visit.fills()) parts = rpc::parts_of(tensor, memory);
  parts.fields(visit);
  if (!visit.fills() || !visit.ok()) return;
  if (const char* problem = rpc::problem_of(parts); *problem) return visit.refuse(problem);
  tensor = rpc::tensor_of(parts);
}

}  // namespace distribute::net
