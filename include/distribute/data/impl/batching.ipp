#pragma once
#include <distribute/data/detail/batching.hpp>
#include <distribute/data/detail/padding.hpp>

namespace distribute::data {

namespace data_internal {

/// The number of elements in a batch.
struct BatchSize {
  int64_t size;
  bool drop_remainder;

  int64_t batches(int64_t elements) const {
    return elements / size + (!drop_remainder && elements % size > 0);
  }
  /// Takes the elements of the next batch; returns false when there are none.
  template <typename T>
  bool collect(Stream<T>& input, std::vector<T>& elements) const {
    T element{};
    elements.clear();
    while (int64_t(elements.size()) < size && input.next(element))
      elements.push_back(std::move(element));
    return !elements.empty() && (!drop_remainder || int64_t(elements.size()) == size);
  }
  template <typename T>
  int64_t skip(Stream<T>& input, int64_t count) const {
    return batches(input.skip(count > INT64_MAX / size ? INT64_MAX : count * size));
  }
};

class RowBatchStream final : public OneToOneStream<int64_t> {
 public:
  RowBatchStream(std::shared_ptr<const RowTable> table, std::unique_ptr<RowStream> rows,
                 BatchSize size)
      : OneToOneStream(std::move(rows)), table_(std::move(table)), size_(size) {}
  bool next(Batch& out) override {
    if (!size_.collect(input(), numbers_)) return false;
    out = table_->gather(numbers_);
    return true;
  }
  int64_t skip(int64_t count) override { return size_.skip(input(), count); }

 private:
  std::shared_ptr<const RowTable> table_;
  BatchSize size_;
  std::vector<int64_t> numbers_;
};

class StackStream final : public OneToOneStream<Batch> {
 public:
  StackStream(std::unique_ptr<BatchStream> input, BatchSize size,
              const std::optional<Padding>& padding)
      : OneToOneStream(std::move(input)), size_(size), padding_(padding) {}
  bool next(Batch& out) override {
    std::vector<Batch> examples;
    if (!size_.collect(input(), examples)) return false;
    out = padding_ ? pad_and_stack(examples, *padding_) : stack_rows(examples);
    return true;
  }
  int64_t skip(int64_t count) override { return size_.skip(input(), count); }

 private:
  BatchSize size_;
  const std::optional<Padding>& padding_;
};

class BatchNode final : public CopiedNode<BatchNode> {
 public:
  BatchNode(NodePtr input, BatchSize size, std::optional<Padding> padding)
      : CopiedNode(std::move(input)), size_(size), padding_(std::move(padding)) {}
  const char* kind() const override { return padding_ ? "PaddedBatch" : "Batch"; }
  std::vector<int64_t> parameters() const override { return {size_.size, size_.drop_remainder}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    return all < 0 ? all : size_.batches(all);
  }
  ElementSpec element_spec() const override {
    const int64_t size = size_.drop_remainder ? size_.size : -1;
    return padding_ ? padded_spec(input().element_spec(), *padding_, size)
                    : with_batch_axis(input().element_spec(), size);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (auto table = padding_ ? nullptr : input().table())
      return std::make_unique<RowBatchStream>(table, input().row_numbers(pass), size_);
    return std::make_unique<StackStream>(input().elements(pass), size_, padding_);
  }

 private:
  BatchSize size_;
  std::optional<Padding> padding_;
};

DISTRIBUTE_INLINE NodePtr batches_node(const char* op, NodePtr input, int64_t size,
                                       bool drop_remainder, std::optional<Padding> padding) {
  if (size < 1)
    throw InvalidArgumentError(str_cat(op, ": the size must be at least 1, got ", size));
  return std::make_shared<BatchNode>(std::move(input), BatchSize{size, drop_remainder},
                                     std::move(padding));
}

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr batch_node(NodePtr input, int64_t batch_size, bool drop_remainder) {
  return data_internal::batches_node("batch", std::move(input), batch_size, drop_remainder, {});
}

}  // namespace distribute::data
