#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/padding.hpp>

#include <algorithm>
#include <cstring>
#include <span>

namespace distribute::data::data_internal {

/// Copies a dense block into the corner of a larger one.
DISTRIBUTE_INLINE void copy_into_corner(const char* in, std::span<const int64_t> from, char* out,
                                        std::span<const int64_t> to, int64_t element_bytes) {
  if (from.size() <= 1) {
    const int64_t bytes = from.empty() ? element_bytes : from[0] * element_bytes;
    if (bytes > 0) std::memcpy(out, in, size_t(bytes));
    return;
  }
  int64_t in_step = element_bytes, out_step = element_bytes;
  for (size_t i = 1; i < from.size(); ++i) in_step *= from[i], out_step *= to[i];
  for (int64_t i = 0; i < from[0]; ++i)
    copy_into_corner(in + i * in_step, from.subspan(1), out + i * out_step, to.subspan(1),
                     element_bytes);
}

DISTRIBUTE_INLINE void fill_with(Tensor& tensor, const Tensor& value) {
  const int64_t size = size_of(tensor.dtype()), bytes = tensor.num_elements() * size;
  if (bytes == 0) return;
  char* out = tensor.array().bytes();
  if (!value) {
    std::memset(out, 0, size_t(bytes));
    return;
  }
  const Tensor plain = value.row_major();
  for (int64_t at = 0; at < bytes; at += size)
    std::memcpy(out + at, plain.array().bytes(), size_t(size));
}

/// Pads one component of all examples.
class ComponentPadding {
 public:
  ComponentPadding(const std::vector<Batch>& examples, size_t component, const Padding& padding,
                   int64_t unknown)
      : examples_(examples), component_(component), first_(examples[0][component]) {
    if (component < padding.values.size()) value_ = padding.values[component];
    if (value_ && (value_.dtype() != first_.dtype() || value_.num_elements() != 1))
      fail(str_cat("has the padding value ", to_string(value_), ", not a scalar ",
                   name_of(first_.dtype())));
    const auto* shape = component < padding.shapes.size() ? &padding.shapes[component] : nullptr;
    if (shape && int64_t(shape->size()) != first_.shape().rank())
      fail(str_cat("has ", first_.shape().rank(), " axes, its padded shape ", shape->size()));
    dims_.push_back(int64_t(examples.size()));
    for (int64_t axis = 0; axis < first_.shape().rank(); ++axis) {
      const int64_t size = shape ? (*shape)[size_t(axis)] : -1;
      dims_.push_back(size < 0 ? unknown : size);
    }
    for (size_t i = 0; i < examples.size(); ++i) check(i, dims_);
    std::vector<int64_t> longest = dims_;
    for (size_t i = 0; i < examples.size(); ++i)
      for (size_t axis = 1; axis < dims_.size(); ++axis)
        if (dims_[axis] < 0) longest[axis] = std::max(longest[axis], size(i, axis));
    dims_ = std::move(longest);
  }
  Tensor joined() const {
    Tensor result = Tensor::empty(Shape(std::span<const int64_t>(dims_)), first_.dtype());
    fill_with(result, value_);
    const int64_t bytes =
        result.num_elements() * size_of(first_.dtype()) / std::max<int64_t>(dims_[0], 1);
    for (size_t i = 0; i < examples_.size(); ++i) {
      const Tensor plain = examples_[i][component_].row_major();
      if (plain.num_elements() > 0)
        copy_into_corner(plain.array().bytes(), plain.shape().dims(),
                         result.array().bytes() + int64_t(i) * bytes,
                         std::span<const int64_t>(dims_).subspan(1), size_of(first_.dtype()));
    }
    return result;
  }

 private:
  int64_t size(size_t example, size_t axis) const {
    return examples_[example][component_].shape()[int64_t(axis) - 1];
  }
  void check(size_t i, const std::vector<int64_t>& dims) const {
    const Tensor& tensor = examples_[i][component_];
    if (tensor.dtype() != first_.dtype() || tensor.shape().rank() != first_.shape().rank())
      fail(str_cat("of element ", i, " is ", name_of(tensor.dtype()), " ",
                   to_string(tensor.shape()), ", of element 0 ", name_of(first_.dtype()), " ",
                   to_string(first_.shape())));
    for (size_t axis = 1; axis < dims.size(); ++axis)
      if (dims[axis] >= 0 && size(i, axis) > dims[axis])
        fail(str_cat("of element ", i, " is ", to_string(tensor.shape()),
                     ", longer than the padded shape, whose axis ", axis - 1, " is ", dims[axis]));
  }
  [[noreturn]] void fail(const std::string& text) const {
    throw InvalidArgumentError(str_cat("padded_batch: component ", component_, " ", text));
  }

  const std::vector<Batch>& examples_;
  size_t component_;
  Tensor first_, value_;
  std::vector<int64_t> dims_;
};

DISTRIBUTE_INLINE Batch pad_and_stack(const std::vector<Batch>& examples, const Padding& padding,
                                      int64_t unknown) {
  std::vector<Tensor> result;
  for (const Batch& example : examples)
    if (example.size() != examples[0].size())
      throw InvalidArgumentError(str_cat("padded_batch: elements have ", examples[0].size(),
                                         " and ", example.size(), " components"));
  for (size_t c = 0; c < examples[0].size(); ++c)
    result.push_back(ComponentPadding(examples, c, padding, unknown).joined());
  return examples[0].with_components(std::move(result));
}

DISTRIBUTE_INLINE ElementSpec padded_spec(ElementSpec spec, const Padding& padding, int64_t size) {
  for (size_t i = 0; i < spec.size(); ++i) {
    if (i < padding.shapes.size())
      spec[i].shape = padding.shapes[i];
    else
      std::fill(spec[i].shape.begin(), spec[i].shape.end(), -1);
  }
  return with_batch_axis(std::move(spec), size);
}

}  // namespace distribute::data::data_internal
