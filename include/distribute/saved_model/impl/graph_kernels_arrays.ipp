#pragma once
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

using KernelResults = std::vector<GraphValue>;

DISTRIBUTE_INLINE std::vector<int> narrow(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

/// Returns a tensor of sizes, with the dtype that the node asks for.
DISTRIBUTE_INLINE Tensor sizes_tensor(const KernelCall& c, const Shape& shape,
                                      const std::vector<int64_t>& values) {
  return cast(Tensor(shape, values), c.dtype_or("out_type", DType::Int32));
}

DISTRIBUTE_INLINE void add_reductions(Kernels& kernels) {
  using Reduction = Tensor (*)(const Tensor&, const std::vector<int>&, bool);
  const std::unordered_map<std::string, Reduction> functions = {
      {"Sum", reduce_sum}, {"Mean", reduce_mean}, {"Prod", reduce_prod}, {"Max", reduce_max},
      {"Min", reduce_min}, {"Any", reduce_any},   {"All", reduce_all}};
  for (const auto& [op, function] : functions)
    kernels[op] = [function = function](const KernelCall& c) {
      const std::vector<int> axes = narrow(c.integers(1));
      if (axes.empty()) return KernelResults{c.tensor(0)};  // here no axes are all of them
      return KernelResults{function(c.tensor(0), axes, c.flag_or("keep_dims", false))};
    };
  const auto search = [](Tensor (*function)(const Tensor&, int)) {
    return [function](const KernelCall& c) {
      return KernelResults{
          cast(function(c.tensor(0), int(c.integer(1))), c.dtype_or("output_type", DType::Int64))};
    };
  };
  kernels["ArgMax"] = search(argmax);
  kernels["ArgMin"] = search(argmin);
  kernels["TopKV2"] = [](const KernelCall& c) {
    const TopK found = top_k(c.tensor(0), int(c.integer(1)));
    return KernelResults{found.values, found.indices};
  };
}

/// The ranges of a StridedSlice, and the changes of the axes afterwards.
class SliceMasks {
 public:
  explicit SliceMasks(const KernelCall& c)
      : c_(c), begin_(c.integers(1)), end_(c.integers(2)), step_(c.integers(3)) {
    if (begin_.size() != end_.size() || begin_.size() != step_.size() || begin_.size() > 32)
      c.refuse("begin, end and strides do not fit");
    const int64_t ellipsis = mask("ellipsis_mask"), added = mask("new_axis_mask");
    int named = 0;  // axes of x that have a range
    for (size_t i = 0; i < begin_.size(); ++i) named += !bit(ellipsis, i) && !bit(added, i);
    for (size_t i = 0; i < begin_.size(); ++i) {
      if (bit(ellipsis, i)) {
        for (int k = named; k < c.tensor(0).shape().rank(); ++k) push({}, false);
      } else if (bit(added, i)) {
        kept_.push_back(-1);
      } else {
        push(range(i), bit(mask("shrink_axis_mask"), i));
      }
    }
  }

  Tensor apply(const Tensor& x) const {
    const Tensor part = strided_slice(x, ranges_);
    Shape shape;
    for (const int axis : kept_) shape.push_back(axis < 0 ? 1 : part.shape()[axis]);
    for (int axis = int(ranges_.size()); axis < x.shape().rank(); ++axis)
      shape.push_back(x.shape()[axis]);
    return shape == part.shape() ? part : reshape(part, shape);
  }

 private:
  static bool bit(int64_t mask, size_t i) { return (mask >> i) & 1; }
  int64_t mask(const char* key) const { return c_.attribute_or(key, 0); }
  Range range(size_t i) const {
    if (bit(mask("shrink_axis_mask"), i))
      return {begin_[i], begin_[i] == -1 ? Range::kNone : begin_[i] + 1, 1};
    return {bit(mask("begin_mask"), i) ? Range::kNone : begin_[i],
            bit(mask("end_mask"), i) ? Range::kNone : end_[i], step_[i]};
  }
  void push(const Range& range, bool dropped) {
    if (!dropped) kept_.push_back(int(ranges_.size()));
    ranges_.push_back(range);
  }

  const KernelCall& c_;
  std::vector<int64_t> begin_, end_, step_;
  std::vector<Range> ranges_;
  std::vector<int> kept_;  // axes of the slice in the result, -1 for a new one
};

DISTRIBUTE_INLINE KernelResults pad_kernel(const KernelCall& c, PadMode mode) {
  const std::vector<int64_t> edges = c.integers(1);
  std::vector<AxisPadding> paddings;
  for (size_t i = 0; i + 1 < edges.size(); i += 2) paddings.push_back({edges[i], edges[i + 1]});
  const float value = c.size() > 2 ? cast(c.tensor(2), DType::Float32).item<float>() : 0;
  return {pad(c.tensor(0), paddings, mode, value)};
}

DISTRIBUTE_INLINE void add_borders_and_slices(Kernels& kernels) {
  using C = const KernelCall&;
  kernels["Pad"] = kernels["PadV2"] = [](C c) { return pad_kernel(c, PadMode::Constant); };
  kernels["MirrorPad"] = [](C c) {
    return pad_kernel(c,
                      c.text_or("mode", "") == "REFLECT" ? PadMode::Reflect : PadMode::Symmetric);
  };
  kernels["StridedSlice"] = [](C c) { return KernelResults{SliceMasks(c).apply(c.tensor(0))}; };
  kernels["Slice"] = [](C c) {
    return KernelResults{slice(c.tensor(0), c.integers(1), c.integers(2))};
  };
  kernels["GatherV2"] = [](C c) {
    if (c.attribute_or("batch_dims", 0) != 0) c.refuse("batch_dims is not 0");
    return KernelResults{gather(c.tensor(0), c.tensor(1), int(c.integer(2)))};
  };
  kernels["GatherNd"] = [](C c) { return KernelResults{gather_nd(c.tensor(0), c.tensor(1))}; };
  kernels["ResourceGather"] = [](C c) {
    if (!c.value(0).variable) c.refuse("its input is no variable");
    return KernelResults{gather(c.value(0).variable->value, c.tensor(1))};
  };
  kernels["OneHot"] = [](C c) {
    const auto number = [&](size_t i) { return cast(c.tensor(i), DType::Float32).item<float>(); };
    return KernelResults{one_hot(c.tensor(0), c.integer(1), number(2), number(3),
                                 int(c.attribute_or("axis", -1)), c.tensor(2).dtype())};
  };
}

DISTRIBUTE_INLINE void add_joints(Kernels& kernels) {
  using C = const KernelCall&;
  const auto all = [](std::vector<Tensor> parts) {
    return KernelResults(parts.begin(), parts.end());
  };
  kernels["ConcatV2"] = [](C c) {
    const size_t last = c.size() - 1;
    return KernelResults{concat(c.tensors(0, last), int(c.integer(last)))};
  };
  kernels["Pack"] = [](C c) {
    return KernelResults{stack(c.tensors(0, c.size()), int(c.attribute_or("axis", 0)))};
  };
  kernels["Unpack"] = [all](C c) {
    return all(unstack(c.tensor(0), int(c.attribute_or("axis", 0))));
  };
  kernels["Split"] = [all](C c) {
    return all(split(c.tensor(1), int(c.attribute_or("num_split", 1)), int(c.integer(0))));
  };
  kernels["SplitV"] = [all](C c) {
    return all(split(c.tensor(0), c.integers(1), int(c.integer(2))));
  };
  kernels["Tile"] = [](C c) { return KernelResults{tile(c.tensor(0), c.integers(1))}; };
  kernels["BroadcastTo"] = [](C c) {
    return KernelResults{broadcast_to(c.tensor(0), Shape(c.integers(1)))};
  };
  kernels["ReverseV2"] = [](C c) {
    return KernelResults{reverse(c.tensor(0), narrow(c.integers(1)))};
  };
}

DISTRIBUTE_INLINE void add_shapes(Kernels& kernels) {
  using C = const KernelCall&;
  kernels["Reshape"] = [](C c) { return KernelResults{reshape(c.tensor(0), c.integers(1))}; };
  kernels["Transpose"] = [](C c) {
    return KernelResults{transpose(c.tensor(0), narrow(c.integers(1)))};
  };
  kernels["ExpandDims"] = [](C c) {
    return KernelResults{expand_dims(c.tensor(0), int(c.integer(1)))};
  };
  kernels["Squeeze"] = [](C c) {
    return KernelResults{squeeze(c.tensor(0), narrow(c.list("squeeze_dims")))};
  };
  kernels["Shape"] = [](C c) {
    const Shape& shape = c.tensor(0).shape();
    return KernelResults{sizes_tensor(c, {shape.rank()}, {shape.begin(), shape.end()})};
  };
  kernels["Size"] = [](C c) {
    return KernelResults{sizes_tensor(c, {}, {c.tensor(0).num_elements()})};
  };
  kernels["Rank"] = [](C c) { return KernelResults{Tensor(int32_t(c.tensor(0).shape().rank()))}; };
  kernels["Fill"] = [](C c) {
    return KernelResults{broadcast_to(c.tensor(1), Shape(c.integers(0)))};
  };
  kernels["ZerosLike"] = [](C c) { return KernelResults{zeros_like(c.tensor(0))}; };
  kernels["OnesLike"] = [](C c) { return KernelResults{ones_like(c.tensor(0))}; };
  kernels["Range"] = [](C c) {
    const auto number = [&](size_t i) {
      return dispatch(c.tensor(i).dtype(),
                      [&](auto type) { return double(c.tensor(i).item<decltype(type)>()); });
    };
    return KernelResults{
        ops_internal::range_values(number(0), number(1), number(2), c.tensor(0).dtype())};
  };
}

DISTRIBUTE_INLINE Kernels make_array_kernels() {
  Kernels kernels;
  add_reductions(kernels);
  add_borders_and_slices(kernels);
  add_joints(kernels);
  add_shapes(kernels);
  return kernels;
}

DISTRIBUTE_INLINE const Kernels& array_kernels() {
  static const Kernels kernels = make_array_kernels();
  return kernels;
}

}  // namespace distribute::saved_model_internal
