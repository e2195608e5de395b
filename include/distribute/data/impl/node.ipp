#pragma once
#include <distribute/data/node.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

class ExampleStream final : public OneToOneStream<int64_t> {
 public:
  ExampleStream(std::shared_ptr<const RowTable> table, std::unique_ptr<RowStream> rows)
      : OneToOneStream(std::move(rows)), table_(std::move(table)), spec_(table_->row_spec()) {}
  bool next(Batch& out) override {
    int64_t row = 0;
    if (!input().next(row)) return false;
    out = table_->gather({&row, 1});
    for (size_t i = 0; i < spec_.size(); ++i)
      out[i] = tensor_internal::viewed(out[i], Shape(std::span<const int64_t>(spec_[i].shape)));
    return true;
  }

 private:
  std::shared_ptr<const RowTable> table_;
  ElementSpec spec_;
};

/// Gives 0, 1, ..., count - 1.
class CountingStream final : public RowStream {
 public:
  explicit CountingStream(int64_t count) : count_(count) {}
  bool next(int64_t& out) override {
    if (next_ == count_) return false;
    out = next_++;
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = std::min(count, count_ - next_);
    next_ += done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(next_); }
  void restore(StateReader& state) override { next_ = state.get(0, count_); }

 private:
  int64_t count_, next_ = 0;
};

class TableNode final : public CopiedNode<TableNode, Node> {
 public:
  explicit TableNode(std::shared_ptr<const RowTable> table) : table_(std::move(table)) {}
  const char* kind() const override { return "TensorSlice"; }
  std::vector<int64_t> parameters() const override { return {table_->num_rows()}; }
  int64_t cardinality() const override { return table_->num_rows(); }
  ElementSpec element_spec() const override { return table_->row_spec(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return stream_examples(table_, row_numbers(pass));
  }
  std::shared_ptr<const RowTable> table() const override { return table_; }
  std::unique_ptr<RowStream> row_numbers(const Pass&) const override {
    return std::make_unique<CountingStream>(table_->num_rows());
  }

 private:
  std::shared_ptr<const RowTable> table_;
};

}  // namespace data_internal

namespace data_internal {

DISTRIBUTE_INLINE uint64_t next_pass(const Node& node) {
  uint64_t number = node.passes() ? node.passes()->next.load() : 0;
  for (const NodePtr& input : node.inputs()) number = std::max(number, next_pass(*input));
  return number;
}

}  // namespace data_internal

DISTRIBUTE_INLINE void set_next_pass(const Node& node, uint64_t number) {
  if (node.passes()) node.passes()->next.store(number);
  for (const NodePtr& input : node.inputs()) set_next_pass(*input, number);
}

DISTRIBUTE_INLINE uint64_t take_pass(const Node& node) {
  const uint64_t number = data_internal::next_pass(node);
  set_next_pass(node, number + 1);
  return number;
}

DISTRIBUTE_INLINE int64_t fingerprint(const Node& node) {
  if (!node.is_in_positions()) return fingerprint(*node.inputs().at(0));
  uint64_t hash = 0;
  const auto add = [&](uint64_t value) { hash = mix_bits(hash ^ value); };
  for (const char* c = node.kind(); *c; ++c) add(uint64_t(*c));
  for (int64_t parameter : node.parameters()) add(uint64_t(parameter));
  for (const NodePtr& input : node.inputs()) add(uint64_t(fingerprint(*input)));
  return int64_t(hash >> 1);
}

DISTRIBUTE_INLINE int64_t depth(const Node& node) {
  int64_t result = 0;
  for (const NodePtr& input : node.inputs()) result = std::max(result, depth(*input));
  return result + 1;
}

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> stream_examples(
    std::shared_ptr<const RowTable> table, std::unique_ptr<RowStream> rows) {
  return std::make_unique<data_internal::ExampleStream>(std::move(table), std::move(rows));
}

DISTRIBUTE_INLINE NodePtr table_source(std::shared_ptr<const RowTable> table) {
  return std::make_shared<data_internal::TableNode>(std::move(table));
}

DISTRIBUTE_INLINE void require_end(int64_t cardinality, const std::string& consumer,
                                   const std::string& cure) {
  if (cardinality == kInfiniteCardinality)
    throw InvalidArgumentError(str_cat(consumer,
                                       ": the dataset never ends, as its cardinality is infinite; "
                                       "give ",
                                       cure, ", or leave out what repeats it"));
}

}  // namespace distribute::data
