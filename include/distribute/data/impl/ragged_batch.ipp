#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/padding.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>
#include <optional>

namespace distribute::data {

namespace data_internal {

/// The axes of a component whose sizes differ between elements.
DISTRIBUTE_INLINE std::vector<int64_t> unknown_axes(const TensorSpec& spec) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < spec.shape.size(); ++axis)
    if (spec.shape[axis] < 0) axes.push_back(int64_t(axis));
  return axes;
}

/// The spec of the sizes of one component, without the batch axis.
DISTRIBUTE_INLINE TensorSpec lengths_spec(const TensorSpec& component) {
  const int64_t axes = int64_t(unknown_axes(component).size());
  TensorSpec result{.dtype = DType::Int64};
  if (axes > 1) result.shape = {axes};
  if (!component.name.empty()) result.name = component.name + "_row_lengths";
  return result;
}

/// Gives the sizes of one component in all examples.
DISTRIBUTE_INLINE Tensor lengths_of(const std::vector<Batch>& examples, size_t component,
                                    const std::vector<int64_t>& axes) {
  std::vector<int64_t> lengths;
  for (const Batch& example : examples)
    for (const int64_t axis : axes) lengths.push_back(example[component].shape()[axis]);
  const int64_t rows = int64_t(examples.size());
  return Tensor(axes.size() == 1 ? Shape{rows} : Shape{rows, int64_t(axes.size())}, lengths);
}

class RaggedBatchStream final : public OneToOneStream<Batch> {
 public:
  RaggedBatchStream(std::unique_ptr<BatchStream> input, ElementSpec spec, ComponentNames names,
                    int64_t size, bool drop_remainder)
      : OneToOneStream(std::move(input)),
        spec_(std::move(spec)),
        names_(std::move(names)),
        size_(size),
        drop_remainder_(drop_remainder) {
    for (const TensorSpec& component : spec_) padding_.shapes.push_back(component.shape);
  }
  bool next(Batch& out) override {
    std::vector<Batch> examples;
    for (Batch one; int64_t(examples.size()) < size_ && input().next(one);)
      examples.push_back(std::move(one));
    if (examples.empty() || (drop_remainder_ && int64_t(examples.size()) < size_)) return false;
    std::vector<Tensor> components = pad_and_stack(examples, padding_).components();
    for (size_t i = 0; i < spec_.size(); ++i)
      if (const auto axes = unknown_axes(spec_[i]); !axes.empty())
        components.push_back(lengths_of(examples, i, axes));
    out = Batch::from_components(std::move(components), names_);
    return true;
  }
  int64_t skip(int64_t count) override { return BatchStream::skip(count); }

 private:
  ElementSpec spec_;
  ComponentNames names_;
  Padding padding_;
  int64_t size_;
  bool drop_remainder_;
};

class RaggedBatchNode final : public CopiedNode<RaggedBatchNode> {
 public:
  RaggedBatchNode(NodePtr input, int64_t size, bool drop_remainder)
      : CopiedNode(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  const char* kind() const override { return "RaggedBatch"; }
  std::vector<int64_t> parameters() const override { return {size_, drop_remainder_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    return all < 0 ? all : all / size_ + (!drop_remainder_ && all % size_ > 0);
  }
  ElementSpec element_spec() const override {
    ElementSpec spec = input().element_spec();
    const size_t count = spec.size();
    for (size_t i = 0; i < count; ++i)
      if (!unknown_axes(spec[i]).empty()) spec.push_back(lengths_spec(spec[i]));
    return with_batch_axis(std::move(spec), drop_remainder_ ? size_ : -1);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<RaggedBatchStream>(input().elements(pass), input().element_spec(),
                                               names_of(element_spec()), size_, drop_remainder_);
  }

 private:
  int64_t size_;
  bool drop_remainder_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr ragged_batch_node(NodePtr input, int64_t batch_size,
                                            bool drop_remainder) {
  if (batch_size < 1)
    throw InvalidArgumentError(
        str_cat("ragged_batch: the size must be at least 1, got ", batch_size));
  return std::make_shared<data_internal::RaggedBatchNode>(std::move(input), batch_size,
                                                          drop_remainder);
}

DISTRIBUTE_INLINE Dataset Dataset::ragged_batch(int64_t batch_size, bool drop_remainder) const {
  return Dataset(ragged_batch_node(node_, batch_size, drop_remainder));
}

}  // namespace distribute::data
