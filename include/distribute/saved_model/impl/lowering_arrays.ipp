#pragma once
#include <distribute/saved_model/detail/lowering.hpp>

#include <limits>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE int lower_reduction(GraphBuilder& b, const char* op) {
  GraphBuilder::Attributes attributes{{"axes", b.list("axes")}};
  if (b.integer("keepdims")) attributes["keep_dims"] = true;
  return b.add(op, {b.in(0)}, b.op().shape, b.dtype(), attributes);
}

DISTRIBUTE_INLINE int lower_along_axis(GraphBuilder& b, const char* op) {
  return b.add(op, b.inputs(), b.op().shape, b.dtype(), {{"axis", b.integer("axis")}});
}

/// TensorFlow's ConcatV2 takes two tensors or more.
DISTRIBUTE_INLINE int lower_concat(GraphBuilder& b) {
  const std::vector<int> parts = b.inputs();
  return parts.size() == 1 ? parts[0] : lower_along_axis(b, "ConcatV2");
}

/// Ends equal to the largest number are open.
DISTRIBUTE_INLINE int lower_slice(GraphBuilder& b) {
  constexpr int64_t kOpen = std::numeric_limits<int32_t>::max();
  const Sizes &begin = b.list("begin"), &step = b.list("step"), &size = b.list("size"),
              &whole = b.list("whole");
  Sizes ends;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (whole[i] != 1 && (size[i] < 0 || begin[i] < 0))
      b.refuse("takes a part of the batch whose size follows it",
               "slice other axes, or export what comes before");
    const int64_t end = begin[i] + (size[i] - 1) * step[i] + (step[i] > 0 ? 1 : -1);
    ends.push_back(whole[i] == 1 ? kOpen : end < 0 ? -kOpen : size[i] == 0 ? begin[i] : end);
  }
  return b.add("StridedSlice", {b.in(0)}, b.op().shape, b.dtype(),
               {{"begin", begin}, {"end", ends}, {"strides", step}});
}

DISTRIBUTE_INLINE int lower_pad(GraphBuilder& b) {
  const Sizes &before = b.list("before"), &after = b.list("after");
  Sizes paddings;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] < 0 || after[i] < 0 || b.list("step")[i] != 1)
      b.refuse("adds more than a border of a known width",
               "pad axes other than the batch, by numbers");
    paddings.push_back(before[i]);
    paddings.push_back(after[i]);
  }
  const DType dtype = b.dtype();
  return b.add("PadV2", {b.in(0), b.number(b.real("value"), dtype)}, b.op().shape, dtype,
               {{"paddings", paddings}});
}

/// Adding zeros needs no shape that follows the batch.
DISTRIBUTE_INLINE int lower_broadcast(GraphBuilder& b) {
  Sizes sizes = b.op().shape;
  const Sizes& from = b.node(b.in(0)).shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t extra = sizes.size() - from.size();
    if (sizes[i] >= 0) continue;
    if (i < extra || from[i - extra] != -1)
      b.refuse("repeats a value as often as the batch is long",
               "let the operation that reads it broadcast");
    sizes[i] = 1;
  }
  const DType dtype = b.dtype();
  if (dtype == DType::Bool) b.refuse("repeats values of dtype bool", "cast to float32 first");
  return b.binary("AddV2", b.in(0), b.constant(fill(Shape(sizes), 0, dtype, Device{})));
}

DISTRIBUTE_INLINE int lower_one_hot(GraphBuilder& b) {
  const DType dtype = b.dtype();
  return b.add("OneHot",
               {b.in(0), b.number(b.real("on_value"), dtype), b.number(b.real("off_value"), dtype)},
               b.op().shape, dtype, {{"depth", b.integer("depth")}, {"axis", b.integer("axis")}});
}

/// TensorFlow's indices are int32 or int64.
DISTRIBUTE_INLINE int lower_gather(GraphBuilder& b) {
  int indices = b.in(1);
  if (const DType dtype = b.node(indices).dtype; dtype != DType::Int32 && dtype != DType::Int64)
    indices = b.add("Cast", {indices}, b.node(indices).shape, DType::Int64);
  return b.add("GatherV2", {b.in(0), indices}, b.op().shape, b.dtype(),
               {{"axis", b.integer("axis")}});
}

/// Between floating dtypes there is nothing to do: all of them are float32 in the file.
DISTRIBUTE_INLINE int lower_cast(GraphBuilder& b) {
  const DType to = b.dtype();
  return b.node(b.in(0)).dtype == to ? b.in(0) : b.add("Cast", {b.in(0)}, b.op().shape, to);
}

}  // namespace distribute::saved_model_internal
