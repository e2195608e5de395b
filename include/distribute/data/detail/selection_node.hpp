#pragma once
/// Base of the transformations that pass elements on without looking at them.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <memory>

namespace distribute::data::data_internal {

/// A node that passes on some of its input's elements, as row numbers if there is a table.
/// `Derived::open<T>(pass)` makes its stream for either type of element.
template <typename Derived>
class SelectionNode : public CopiedNode<Derived> {
 public:
  using CopiedNode<Derived>::CopiedNode;
  std::shared_ptr<const RowTable> table() const override { return this->input().table(); }
  std::unique_ptr<RowStream> row_numbers(const Pass& pass) const override {
    return self().template open<int64_t>(pass);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (auto rows = table()) return stream_examples(rows, row_numbers(pass));
    return self().template open<Batch>(pass);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace distribute::data::data_internal
