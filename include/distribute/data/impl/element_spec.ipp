#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>

#include <algorithm>

namespace distribute::data {

DISTRIBUTE_INLINE std::string to_string(const ElementSpec& spec) {
  std::string text = "(";
  for (size_t i = 0; i < spec.size(); ++i) {
    if (i) text += ", ";
    if (!spec[i].name.empty()) text += spec[i].name + ": ";
    text += "[";
    for (size_t j = 0; j < spec[i].shape.size(); ++j)
      text += (j ? ", " : "") + std::to_string(spec[i].shape[j]);
    text += str_cat("] ", name_of(spec[i].dtype));
  }
  return text + ")";
}

DISTRIBUTE_INLINE ElementSpec spec_of(const Batch& element) {
  ElementSpec spec;
  for (size_t i = 0; i < element.size(); ++i) {
    const Shape& shape = element[i].shape();
    spec.push_back({{shape.begin(), shape.end()},
                    element[i].dtype(),
                    element.names ? (*element.names)[i] : std::string()});
  }
  return spec;
}

DISTRIBUTE_INLINE ComponentNames names_of(const ElementSpec& spec) {
  std::vector<std::string> names;
  bool any = false;
  for (const TensorSpec& tensor : spec) {
    names.push_back(tensor.name);
    any = any || !tensor.name.empty();
  }
  return any ? std::make_shared<const std::vector<std::string>>(std::move(names)) : nullptr;
}

DISTRIBUTE_INLINE ElementSpec with_batch_axis(ElementSpec spec, int64_t size) {
  for (TensorSpec& tensor : spec) tensor.shape.insert(tensor.shape.begin(), size);
  return spec;
}

DISTRIBUTE_INLINE ElementSpec without_batch_axis(ElementSpec spec) {
  for (TensorSpec& tensor : spec) {
    if (tensor.shape.empty())
      throw InvalidArgumentError("unbatch: elements " + to_string(spec) + " have no batch axis");
    tensor.shape.erase(tensor.shape.begin());
  }
  return spec;
}

DISTRIBUTE_INLINE bool is_static(const ElementSpec& spec) {
  return std::all_of(spec.begin(), spec.end(), [](const TensorSpec& tensor) {
    return std::count(tensor.shape.begin(), tensor.shape.end(), -1) == 0;
  });
}

DISTRIBUTE_INLINE int64_t static_batch_size(const ElementSpec& spec) {
  int64_t size = -1;
  for (const TensorSpec& tensor : spec) {
    if (tensor.shape.empty() || tensor.shape[0] < 0) return -1;
    if (size >= 0 && tensor.shape[0] != size) return -1;
    size = tensor.shape[0];
  }
  return size;
}

DISTRIBUTE_INLINE ElementSpec common_spec(const ElementSpec& a, const ElementSpec& b) {
  bool alike = a.size() == b.size();
  for (size_t i = 0; alike && i < a.size(); ++i)
    alike = a[i].dtype == b[i].dtype && a[i].name == b[i].name &&
            a[i].shape.size() == b[i].shape.size();
  if (!alike)
    throw InvalidArgumentError("the datasets have different elements: " + to_string(a) + " and " +
                               to_string(b));
  ElementSpec result = a;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].shape.size(); ++j)
      if (a[i].shape[j] != b[i].shape[j]) result[i].shape[j] = -1;
  return result;
}

DISTRIBUTE_INLINE Batch empty_batch(const ElementSpec& spec) {
  std::vector<Tensor> components;
  for (const TensorSpec& tensor : spec) {
    if (tensor.shape.empty()) throw InvalidArgumentError("an element of scalars cannot be empty");
    std::vector<int64_t> dims = tensor.shape;
    for (int64_t& size : dims) size = std::max<int64_t>(size, 0);
    dims[0] = 0;
    components.push_back(Tensor::empty(Shape(std::span<const int64_t>(dims)), tensor.dtype));
  }
  return Batch::from_components(std::move(components), names_of(spec));
}

}  // namespace distribute::data
