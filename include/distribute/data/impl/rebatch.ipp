#pragma once
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/detail/rebatch.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

/// The batch that is being cut, and the position of the cut.
class OpenBatch {
 public:
  explicit OpenBatch(std::unique_ptr<BatchStream> input) : input_(std::move(input)) {}
  const Batch& batch() const { return batch_; }
  int64_t size() const { return size_; }
  int64_t left() const { return size_ - used_; }
  /// Drops the rest of the batch and opens the next one; returns false at the end.
  bool advance() {
    if (!advance_uncounted()) return false;
    size_ = batch_size(batch_);
    return true;
  }
  /// Does the same for batches whose components have different numbers of rows.
  bool advance_uncounted() {
    StateWriter before;
    input_->save(before);
    used_ = size_ = 0;
    before_.clear();
    if (!input_->next(batch_)) return false;
    before_ = before.values();
    return true;
  }
  /// Calls advance() until there is a row.
  bool advance_to_row() {
    FruitlessSteps fruitless("unbatch, rebatch: batches without rows came");
    for (; left() == 0; fruitless.add())
      if (!advance()) return false;
    return true;
  }
  Batch take(int64_t count) {
    used_ += count;
    return rows(batch_, used_ - count, used_);
  }
  void save(StateWriter& state) const {
    state.put(before_.empty() ? -1 : used_);
    if (before_.empty())
      input_->save(state);
    else
      state.put(before_);
  }
  void restore(StateReader& state) {
    const int64_t used = restore_uncounted(state);
    if (used < 0) return;
    size_ = batch_size(batch_);
    if (used > size_)
      throw InvalidArgumentError("the saved position lies behind the end of the dataset");
    used_ = used;
  }
  /// Restores the batch alone, and gives the number of its rows that were used, or -1 when no batch
  /// was open.
  int64_t restore_uncounted(StateReader& state) {
    const int64_t used = state.get(-1);
    input_->restore(state);
    if (used >= 0 && !advance_uncounted())
      throw InvalidArgumentError("the saved position lies behind the end of the dataset");
    return used;
  }

 private:
  std::unique_ptr<BatchStream> input_;
  std::vector<int64_t> before_;  // state of the input before `batch_`; empty: none is open
  Batch batch_;
  int64_t size_ = 0, used_ = 0;
};

class UnbatchStream final : public BatchStream {
 public:
  explicit UnbatchStream(std::unique_ptr<BatchStream> input) : open_(std::move(input)) {}
  bool next(Batch& out) override {
    if (!open_.advance_to_row()) return false;
    out = open_.take(1);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = tensor_internal::viewed(out[i], Shape(out[i].shape().dims().subspan(1)));
    return true;
  }
  void save(StateWriter& state) const override { open_.save(state); }
  void restore(StateReader& state) override { open_.restore(state); }

 private:
  OpenBatch open_;
};

class UnbatchNode final : public CopiedNode<UnbatchNode> {
 public:
  explicit UnbatchNode(NodePtr input) : CopiedNode(std::move(input)) {}
  const char* kind() const override { return "Unbatch"; }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  ElementSpec element_spec() const override { return without_batch_axis(input().element_spec()); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<UnbatchStream>(input().elements(pass));
  }
};

class RebatchStream final : public BatchStream {
 public:
  RebatchStream(const Node& input, const Pass& pass, const std::vector<int64_t>& sizes,
                bool drop_remainder)
      : input_(input),
        open_(input.elements(pass)),
        sizes_(sizes),
        drop_remainder_(drop_remainder) {}
  bool next(Batch& out) override {
    const int64_t size = sizes_[size_t(turn_)];
    if (size == 0)
      out = no_rows();
    else if (!take(size, out))
      return false;
    // A short batch is the last one; a size of 0 after it is skipped.
    if (batch_size(out) == size) turn_ = (turn_ + 1) % int64_t(sizes_.size());
    return true;
  }
  void save(StateWriter& state) const override {
    state.put(turn_);
    open_.save(state);
  }
  void restore(StateReader& state) override {
    turn_ = state.get(0, int64_t(sizes_.size()) - 1);
    open_.restore(state);
  }

 private:
  /// Gives a batch of no rows, as TensorFlow does, also at the end of the data.
  Batch no_rows() {
    return open_.advance_to_row() ? rows(open_.batch(), 0, 0) : empty_batch(input_.element_spec());
  }
  bool take(int64_t size, Batch& out) {
    if (!open_.advance_to_row()) return false;
    std::vector<Batch> parts = {open_.take(std::min(size, open_.left()))};
    int64_t got = batch_size(parts[0]);
    while (got < size && open_.advance_to_row()) {
      parts.push_back(open_.take(std::min(size - got, open_.left())));
      got += batch_size(parts.back());
    }
    if (got < size && drop_remainder_) return false;
    out = concat_rows(parts);
    return true;
  }

  const Node& input_;
  OpenBatch open_;
  std::vector<int64_t> sizes_;
  bool drop_remainder_;
  int64_t turn_ = 0;
};

class RebatchNode final : public CopiedNode<RebatchNode> {
 public:
  RebatchNode(NodePtr input, std::vector<int64_t> sizes, bool drop_remainder)
      : CopiedNode(std::move(input)), sizes_(std::move(sizes)), drop_remainder_(drop_remainder) {}
  const char* kind() const override { return "Rebatch"; }
  std::vector<int64_t> parameters() const override {
    std::vector<int64_t> result = sizes_;
    result.push_back(drop_remainder_);
    return result;
  }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  ElementSpec element_spec() const override {
    const ElementSpec before = input().element_spec();
    const int64_t size = sizes_[0], all = static_batch_size(before);
    const bool equal = std::count(sizes_.begin(), sizes_.end(), size) == int64_t(sizes_.size());
    const bool even = drop_remainder_ || (all >= 0 && equal && all % size == 0);
    return with_batch_axis(without_batch_axis(before), equal && even ? size : -1);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<RebatchStream>(input(), pass, sizes_, drop_remainder_);
  }

 private:
  std::vector<int64_t> sizes_;
  bool drop_remainder_;
};

/// Cuts each component by itself, as they may have different numbers of rows.
class LegacyRebatchStream final : public BatchStream {
 public:
  LegacyRebatchStream(std::unique_ptr<BatchStream> input, int64_t pieces)
      : open_(std::move(input)), pieces_(pieces), piece_(pieces) {}
  bool next(Batch& out) override {
    if (piece_ == pieces_) {
      if (!open_.advance_uncounted()) return false;
      piece_ = 0;
    }
    std::vector<Tensor> components = open_.batch().components();
    for (Tensor& component : components)
      if (component) component = piece_of(component);
    out = open_.batch().with_components(std::move(components));
    ++piece_;
    return true;
  }
  void save(StateWriter& state) const override {
    state.put(piece_);
    open_.save(state);
  }
  void restore(StateReader& state) override {
    piece_ = state.get(0, pieces_);
    open_.restore_uncounted(state);
  }

 private:
  Tensor piece_of(const Tensor& component) const {
    if (component.shape().rank() == 0)
      throw InvalidArgumentError(
          "a component of the element is a scalar and has no batch axis; call the `batch` method "
          "on the input Dataset");
    const int64_t all = component.shape()[0], size = (all + pieces_ - 1) / pieces_;
    const int64_t begin = std::min(piece_ * size, all);
    return tensor_internal::rows_of(component, begin, std::min(begin + size, all));
  }

  OpenBatch open_;
  int64_t pieces_, piece_;
};

class LegacyRebatchNode final : public CopiedNode<LegacyRebatchNode> {
 public:
  LegacyRebatchNode(NodePtr input, int64_t pieces)
      : CopiedNode(std::move(input)), pieces_(pieces) {}
  const char* kind() const override { return "LegacyRebatch"; }
  std::vector<int64_t> parameters() const override { return {pieces_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    return all < 0 ? all : all * pieces_;
  }
  ElementSpec element_spec() const override {
    ElementSpec spec = with_batch_axis(without_batch_axis(input().element_spec()), -1);
    const ElementSpec before = input().element_spec();
    for (size_t i = 0; i < spec.size(); ++i)
      if (const int64_t all = before[i].shape[0]; all >= 0 && all % pieces_ == 0)
        spec[i].shape[0] = all / pieces_;
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<LegacyRebatchStream>(input().elements(pass), pieces_);
  }

 private:
  int64_t pieces_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr unbatch_node(NodePtr input) {
  return std::make_shared<data_internal::UnbatchNode>(std::move(input));
}

DISTRIBUTE_INLINE NodePtr rebatch_node(NodePtr input, std::vector<int64_t> sizes,
                                       bool drop_remainder) {
  const bool valid = !sizes.empty() && *std::min_element(sizes.begin(), sizes.end()) >= 0 &&
                     *std::max_element(sizes.begin(), sizes.end()) > 0;
  if (!valid) throw InvalidArgumentError("rebatch: needs sizes of 0 or more, one of them not 0");
  return std::make_shared<data_internal::RebatchNode>(std::move(input), std::move(sizes),
                                                      drop_remainder);
}

DISTRIBUTE_INLINE NodePtr legacy_rebatch_node(NodePtr input, int64_t pieces) {
  if (pieces < 1)
    throw InvalidArgumentError(str_cat("rebatch: needs at least 1 piece, got ", pieces));
  return std::make_shared<data_internal::LegacyRebatchNode>(std::move(input), pieces);
}

}  // namespace distribute::data
