#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE GraphValue list_value(std::vector<Tensor> tensors) {
  GraphValue value;
  value.list = std::make_shared<std::vector<Tensor>>(std::move(tensors));
  return value;
}

DISTRIBUTE_INLINE const std::vector<Tensor>& list_of(const KernelCall& c) {
  if (!c.value(0).list) c.refuse("its input is no list of tensors");
  return *c.value(0).list;
}

/// The place in the list that input 1 names.
DISTRIBUTE_INLINE size_t list_place(const KernelCall& c) {
  const int64_t place = c.integer(1);
  if (place < 0 || place >= int64_t(list_of(c).size()))
    throw InvalidArgumentError(str_cat("node '", c.node().name, "': there is no element ", place));
  return size_t(place);
}

/// Zeros of the shape that a list was given, for an element that was never set.
DISTRIBUTE_INLINE Tensor list_element(const KernelCall& c, const Tensor& element) {
  if (element) return element;
  std::vector<int64_t> sizes = c.integers(c.size() - 1);
  for (int64_t& size : sizes)
    if (size < 0) c.refuse("an element that was never set, of an unknown shape");
  return zeros(Shape(sizes), c.dtype_or("element_dtype", DType::Float32));
}

DISTRIBUTE_INLINE std::vector<GraphValue> stack_list(const KernelCall& c) {
  std::vector<Tensor> elements;
  Shape shape;
  for (const Tensor& element : list_of(c))
    if (element) shape = element.shape();
  for (const Tensor& element : list_of(c))
    elements.push_back(element ? element
                               : zeros(shape, c.dtype_or("element_dtype", DType::Float32)));
  if (elements.empty()) c.refuse("the list is empty");
  return {stack(elements)};
}

/// Reads tensors of the bundle that input 0 names.
DISTRIBUTE_INLINE std::vector<GraphValue> restore(const KernelCall& c) {
  const auto &prefix = c.value(0).texts, &names = c.value(1).texts;
  if (prefix.size() != 1) c.refuse("it has no path");
  train::BundleReader reader(prefix[0]);
  std::vector<GraphValue> values;
  for (const std::string& name : names) {
    GraphValue value;
    if (!name.starts_with("_CHECKPOINTABLE_OBJECT_GRAPH"))
      value.tensor = train::read_tensor(reader, name);
    values.push_back(value);
  }
  return values;
}

DISTRIBUTE_INLINE const Kernels& list_kernels() {
  using C = const KernelCall&;
  using Values = std::vector<GraphValue>;
  static const Kernels kernels = {
      {"RestoreV2", restore},
      {"TensorListReserve",
       [](C c) {
         constexpr int64_t kMost = 1'000'000;
         const int64_t count = c.integer(1);
         if (count < 0 || count > kMost) c.refuse(str_cat("a list of ", count, " elements"));
         return Values{list_value(std::vector<Tensor>(size_t(count)))};
       }},
      {"TensorListFromTensor", [](C c) { return Values{list_value(unstack(c.tensor(0)))}; }},
      {"TensorListGetItem", [](C c) { return Values{list_element(c, list_of(c)[list_place(c)])}; }},
      {"TensorListSetItem",
       [](C c) {
         std::vector<Tensor> elements = list_of(c);
         elements[list_place(c)] = c.tensor(2);
         return Values{list_value(std::move(elements))};
       }},
      {"TensorListLength", [](C c) { return Values{Tensor(int32_t(list_of(c).size()))}; }},
      {"TensorListStack", stack_list}};
  return kernels;
}

}  // namespace distribute::saved_model_internal
