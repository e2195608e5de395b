#pragma once
/// Base of the transformations that pass elements on without looking at them.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace distribute::data::data_internal {

/// A node that passes some of its input's elements on: as row numbers where there is a table.
/// `Derived::open<T>(pass)` makes its stream for either type of element.
template <typename Derived>
class SelectionNode : public Node {
 public:
  explicit SelectionNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<NodePtr> inputs() const override { return {input_}; }
  ElementSpec element_spec() const override { return input_->element_spec(); }
  std::shared_ptr<const RowTable> table() const override { return input_->table(); }
  std::unique_ptr<RowStream> row_numbers(const Pass& pass) const override {
    return self().template open<int64_t>(pass);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (auto rows = table()) return stream_examples(rows, row_numbers(pass));
    return self().template open<Batch>(pass);
  }

 protected:
  const Node& input() const { return *input_; }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  NodePtr input_;
};

}  // namespace distribute::data::data_internal
