#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <cstring>
#include <string>

namespace distribute::data {

namespace data_internal {

/// Throws when component `c` of part `i` does not match the first part's.
DISTRIBUTE_INLINE void check_alike(const char* op, const Tensor& first, const Tensor& other,
                                   size_t part, size_t component, bool skip_first_axis) {
  Shape a = first.shape(), b = other.shape();
  if (skip_first_axis && a.rank() > 0 && a.rank() == b.rank()) b = b.with(0, a[0]);
  if (a == b && first.dtype() == other.dtype()) return;
  throw InvalidArgumentError(str_cat(op, ": component ", component, " of element ", part, " is ",
                                     name_of(other.dtype()), " ", to_string(other.shape()),
                                     ", of element 0 ", name_of(first.dtype()), " ",
                                     to_string(first.shape())));
}

/// Copies one component of all parts, in order, into a tensor of `shape`.
DISTRIBUTE_INLINE Tensor join(const std::vector<Batch>& parts, size_t component,
                              const Shape& shape) {
  Tensor result = Tensor::empty(shape, parts[0][component].dtype());
  char* out = result.array().bytes();
  for (const Batch& part : parts) {
    const Tensor plain = part[component].row_major();
    const int64_t bytes = plain.num_elements() * size_of(plain.dtype());
    if (bytes) std::memcpy(out, plain.array().bytes(), size_t(bytes));
    out += bytes;
  }
  return result;
}

DISTRIBUTE_INLINE Batch join_all(const char* op, const std::vector<Batch>& parts, bool stack) {
  std::vector<Tensor> result;
  for (size_t c = 0; c < parts[0].size(); ++c) {
    const Tensor& first = parts[0][c];
    int64_t count = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].size() != parts[0].size())
        throw InvalidArgumentError(str_cat(op, ": element ", i, " has ", parts[i].size(),
                                           " components, element 0 has ", parts[0].size()));
      check_alike(op, first, parts[i][c], i, c, !stack);
      count += stack ? 1 : parts[i][c].shape()[0];
    }
    std::vector<int64_t> dims = {count};
    dims.insert(dims.end(), first.shape().begin() + (stack ? 0 : 1), first.shape().end());
    result.push_back(join(parts, c, Shape(std::span<const int64_t>(dims))));
  }
  return parts[0].with_components(std::move(result));
}

}  // namespace data_internal

DISTRIBUTE_INLINE const Tensor& Batch::operator[](std::string_view name) const {
  std::string known;
  for (size_t i = 0; names && i < names->size(); ++i) {
    if ((*names)[i] == name) return (*this)[i];
    known += str_cat(i ? ", " : "", (*names)[i]);
  }
  throw InvalidArgumentError(str_cat("the element has no component \"", name, "\"; ",
                                     names ? "its names are " + known : "it has no names"));
}

DISTRIBUTE_INLINE Batch::operator TensorMap() const {
  TensorMap result;
  for (size_t i = 0; i < size(); ++i) {
    if (!names || (*names)[i].empty())
      throw InvalidArgumentError(
          str_cat("component ", i, " of the element has no name: it cannot become a TensorMap"));
    result[(*names)[i]] = (*this)[i];
  }
  return result;
}

DISTRIBUTE_INLINE void Batch::copy_to(const std::vector<Tensor*>& fields) const {
  if (fields.size() != size())
    throw InvalidArgumentError(str_cat("an element of ", size(),
                                       " components cannot become a structure of ", fields.size(),
                                       " tensors"));
  for (size_t i = 0; i < size(); ++i) *fields[i] = (*this)[i];
}

DISTRIBUTE_INLINE Batch to_batch(const TensorMap& map) {
  std::vector<Tensor> components;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : map) {
    if (name.empty()) throw InvalidArgumentError("a component of an element has an empty name");
    names.push_back(name);
    components.push_back(tensor);
  }
  return Batch::from_components(std::move(components),
                                std::make_shared<const std::vector<std::string>>(std::move(names)));
}

DISTRIBUTE_INLINE ComponentNames join_names(const std::vector<Batch>& parts) {
  std::vector<std::string> names;
  bool any = false;
  for (const Batch& part : parts) {
    any = any || part.names;
    for (size_t i = 0; i < part.size(); ++i)
      names.push_back(part.names ? (*part.names)[i] : std::string());
  }
  return any ? std::make_shared<const std::vector<std::string>>(std::move(names)) : nullptr;
}

DISTRIBUTE_INLINE Batch Batch::from_components(std::vector<Tensor> components,
                                               ComponentNames names) {
  if (names && names->size() != components.size())
    throw InvalidArgumentError(
        str_cat("an element of ", components.size(), " components has ", names->size(), " names"));
  Batch result;
  result.names = std::move(names);
  if (components.size() > 2) result.more.assign(components.begin() + 2, components.end());
  if (!components.empty()) result.x = std::move(components[0]);
  if (components.size() > 1) result.y = std::move(components[1]);
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> Batch::components() const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
  return result;
}

DISTRIBUTE_INLINE Batch rows(const Batch& batch, int64_t begin, int64_t end) {
  Batch result = batch;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = tensor_internal::rows_of(batch[i], begin, end);
  return result;
}

DISTRIBUTE_INLINE int64_t batch_size(const Batch& batch) {
  int64_t size = -1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i].shape();
    if (shape.rank() == 0)
      throw InvalidArgumentError(
          str_cat("component ", i,
                  " of the element is a scalar and has no batch axis; call the "
                  "`batch` method on the input Dataset"));
    if (size >= 0 && shape[0] != size)
      throw InvalidArgumentError(str_cat("component ", i, " of the batch has ", shape[0],
                                         " rows, component 0 has ", size));
    size = shape[0];
  }
  return size < 0 ? 0 : size;
}

DISTRIBUTE_INLINE Batch concat_rows(const std::vector<Batch>& parts) {
  if (parts.size() == 1) return parts[0];
  if (parts.empty()) throw InvalidArgumentError("concat_rows: there are no batches to join");
  for (const Batch& part : parts) batch_size(part);
  return data_internal::join_all("concat_rows", parts, false);
}

DISTRIBUTE_INLINE Batch stack_rows(const std::vector<Batch>& examples) {
  if (examples.empty()) throw InvalidArgumentError("batch: there are no elements to join");
  return data_internal::join_all("batch", examples, true);
}

DISTRIBUTE_INLINE bool data_internal::is_true(const Tensor& kept) {
  if (kept.dtype() != DType::Bool || kept.shape().rank() > 0)
    throw InvalidArgumentError(
        str_cat("filter: the predicate must give a bool, or one as a scalar; it gave ",
                name_of(kept.dtype()), " ", to_string(kept.shape())));
  return kept.item<bool>();
}

}  // namespace distribute::data
