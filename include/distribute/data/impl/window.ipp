#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>
#include <deque>
#include <type_traits>

namespace distribute::data {

namespace data_internal {

struct WindowSizes {
  int64_t size, shift, stride;
  bool drop_remainder;
  /// The distance from the first element of a window to its last, both included.
  int64_t span() const { return (size - 1) * stride + 1; }
};

/// T is Batch, or a row number of a table. The position is the state of the input before the oldest
/// element that it holds.
template <typename T>
class WindowStream final : public BatchStream {
 public:
  WindowStream(std::unique_ptr<Stream<T>> input, const WindowSizes& sizes,
               std::shared_ptr<const RowTable> table)
      : input_(std::move(input)), sizes_(sizes), table_(std::move(table)) {}
  bool next(Batch& out) override {
    if (to_drop_ > 0 && input_->skip(to_drop_) < to_drop_) input_ended_ = true;
    to_drop_ = 0;
    while (int64_t(held_.size()) < sizes_.span() && hold_next()) {
    }
    if (held_.empty() || (sizes_.drop_remainder && int64_t(held_.size()) < sizes_.span()))
      return false;
    std::vector<T> chosen;
    for (size_t i = 0; i < held_.size(); i += size_t(sizes_.stride))
      chosen.push_back(held_[i].value);
    out = joined(chosen);
    const int64_t gone = std::min(sizes_.shift, int64_t(held_.size()));
    held_.erase(held_.begin(), held_.begin() + gone);
    to_drop_ = sizes_.shift - gone;
    return true;
  }
  void save(StateWriter& state) const override {
    state.put(to_drop_);
    state.put(input_ended_);
    state.put(int64_t(held_.size()));
    if (held_.empty())
      input_->save(state);
    else
      state.put(held_.front().state_before);
  }
  void restore(StateReader& state) override {
    to_drop_ = state.get();
    const bool ended = state.get(0, 1);
    const int64_t count = state.get(0, sizes_.span());
    input_->restore(state);
    while (int64_t(held_.size()) < count)
      if (!hold_next())
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
    input_ended_ = ended;
  }

 private:
  struct Held {
    std::vector<int64_t> state_before;  // state of the input
    T value;
  };

  bool hold_next() {
    if (input_ended_) return false;
    StateWriter before;
    input_->save(before);
    Held element{before.values(), {}};
    input_ended_ = !input_->next(element.value);
    if (!input_ended_) held_.push_back(std::move(element));
    return !input_ended_;
  }
  Batch joined(const std::vector<T>& chosen) const {
    if constexpr (std::is_same_v<T, Batch>)
      return stack_rows(chosen);
    else
      return table_->gather(chosen);
  }

  std::unique_ptr<Stream<T>> input_;
  WindowSizes sizes_;
  std::shared_ptr<const RowTable> table_;
  std::deque<Held> held_;
  int64_t to_drop_ = 0;  // elements between two windows
  bool input_ended_ = false;
};

class WindowNode final : public CopiedNode<WindowNode> {
 public:
  WindowNode(NodePtr input, const WindowSizes& sizes)
      : CopiedNode(std::move(input)), sizes_(sizes) {}
  const char* kind() const override { return "Window"; }
  std::vector<int64_t> parameters() const override {
    return {sizes_.size, sizes_.shift, sizes_.stride, sizes_.drop_remainder};
  }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (all < 0) return all;
    if (!sizes_.drop_remainder) return (all + sizes_.shift - 1) / sizes_.shift;
    return all < sizes_.span() ? 0 : (all - sizes_.span()) / sizes_.shift + 1;
  }
  ElementSpec element_spec() const override {
    return with_batch_axis(input().element_spec(), sizes_.drop_remainder ? sizes_.size : -1);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (auto table = input().table())
      return std::make_unique<WindowStream<int64_t>>(input().row_numbers(pass), sizes_, table);
    return std::make_unique<WindowStream<Batch>>(input().elements(pass), sizes_, nullptr);
  }

 private:
  WindowSizes sizes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr window_node(NodePtr input, int64_t size, const WindowOptions& options) {
  const data_internal::WindowSizes sizes{size, options.shift.value_or(size), options.stride,
                                         options.drop_remainder};
  if (sizes.size < 1 || sizes.shift < 1 || sizes.stride < 1)
    throw InvalidArgumentError(str_cat("window: size ", sizes.size, ", shift ", sizes.shift,
                                       " and stride ", sizes.stride, " must be at least 1"));
  return std::make_shared<data_internal::WindowNode>(std::move(input), sizes);
}

DISTRIBUTE_INLINE Dataset Windows::flat_map(std::function<Dataset(const Dataset&)> function) const {
  return Dataset(stacked_).flat_map([function = std::move(function)](const Batch& window) {
    return function(Dataset::from_tensor_slices(window));
  });
}

DISTRIBUTE_INLINE Dataset Windows::batch() const { return Dataset(stacked_); }

DISTRIBUTE_INLINE Windows Dataset::window(int64_t size) const { return window(size, {}); }

DISTRIBUTE_INLINE Windows Dataset::window(int64_t size, const WindowOptions& options) const {
  return Windows(window_node(node_, size, options));
}

}  // namespace distribute::data
