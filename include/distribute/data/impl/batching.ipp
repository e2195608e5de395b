#pragma once
#include <distribute/data/detail/batching.hpp>

namespace distribute::data {

namespace data_internal {

class RowBatchStream final : public BatchStream {
 public:
  RowBatchStream(std::shared_ptr<const RowTable> table, std::unique_ptr<RowStream> rows,
                 int64_t size, bool drop_remainder)
      : table_(std::move(table)),
        rows_(std::move(rows)),
        size_(size),
        drop_remainder_(drop_remainder) {}
  bool next(Batch& out) override {
    numbers_.clear();
    int64_t row;
    while (int64_t(numbers_.size()) < size_ && rows_->next(row)) numbers_.push_back(row);
    if (numbers_.empty() || (drop_remainder_ && int64_t(numbers_.size()) < size_)) return false;
    out = table_->gather(numbers_);
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t rows = rows_->skip(count > INT64_MAX / size_ ? INT64_MAX : count * size_);
    return rows / size_ + (!drop_remainder_ && rows % size_ > 0);
  }
  void save(StateWriter& state) const override { rows_->save(state); }
  void restore(StateReader& state) override { rows_->restore(state); }

 private:
  std::shared_ptr<const RowTable> table_;
  std::unique_ptr<RowStream> rows_;
  int64_t size_;
  bool drop_remainder_;
  std::vector<int64_t> numbers_;
};

class StackStream final : public BatchStream {
 public:
  StackStream(std::unique_ptr<BatchStream> input, int64_t size, bool drop_remainder)
      : input_(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  bool next(Batch& out) override {
    std::vector<Batch> examples;
    Batch example;
    while (int64_t(examples.size()) < size_ && input_->next(example))
      examples.push_back(std::move(example));
    if (examples.empty() || (drop_remainder_ && int64_t(examples.size()) < size_)) return false;
    out = stack_rows(examples);
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t examples = input_->skip(count > INT64_MAX / size_ ? INT64_MAX : count * size_);
    return examples / size_ + (!drop_remainder_ && examples % size_ > 0);
  }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override { input_->restore(state); }

 private:
  std::unique_ptr<BatchStream> input_;
  int64_t size_;
  bool drop_remainder_;
};

class BatchNode final : public OneInputNode {
 public:
  BatchNode(NodePtr input, int64_t size, bool drop_remainder)
      : OneInputNode(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  const char* kind() const override { return "Batch"; }
  std::vector<int64_t> parameters() const override { return {size_, drop_remainder_}; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return batch_node(inputs.at(0), size_, drop_remainder_);
  }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (all < 0) return all;
    return all / size_ + (!drop_remainder_ && all % size_ > 0);
  }
  ElementSpec element_spec() const override {
    return with_batch_axis(input().element_spec(), drop_remainder_ ? size_ : -1);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (auto table = input().table())
      return std::make_unique<RowBatchStream>(table, input().row_numbers(pass), size_,
                                              drop_remainder_);
    return std::make_unique<StackStream>(input().elements(pass), size_, drop_remainder_);
  }

 private:
  int64_t size_;
  bool drop_remainder_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr batch_node(NodePtr input, int64_t batch_size, bool drop_remainder) {
  if (batch_size < 1)
    throw InvalidArgumentError(str_cat("batch: the size must be at least 1, got ", batch_size));
  return std::make_shared<data_internal::BatchNode>(std::move(input), batch_size, drop_remainder);
}

}  // namespace distribute::data
