#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace distribute::data {

namespace data_internal {

/// The elements of one window.
class WindowElementsStream final : public BatchStream {
 public:
  explicit WindowElementsStream(const std::vector<Batch>& elements) : elements_(elements) {}
  bool next(Batch& out) override {
    if (given_ == elements_.size()) return false;
    out = elements_[given_++];
    return true;
  }
  void save(StateWriter& state) const override { state.put(int64_t(given_)); }
  void restore(StateReader& state) override {
    given_ = size_t(state.get(0, int64_t(elements_.size())));
  }

 private:
  const std::vector<Batch>& elements_;
  size_t given_ = 0;
};

class WindowElementsNode final : public CopiedNode<WindowElementsNode, Node> {
 public:
  WindowElementsNode(std::vector<Batch> elements, ElementSpec spec)
      : elements_(std::move(elements)), spec_(std::move(spec)) {}
  const char* kind() const override { return "WindowElements"; }
  int64_t cardinality() const override { return int64_t(elements_.size()); }
  ElementSpec element_spec() const override { return spec_; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<WindowElementsStream>(elements_);
  }

 private:
  std::vector<Batch> elements_;
  ElementSpec spec_;
};

DISTRIBUTE_INLINE std::vector<int64_t> state_of(const BatchStream& stream) {
  StateWriter state;
  stream.save(state);
  return state.values();
}

/// Its position is the state of the input before the oldest element that it holds, which of the
/// later elements it still holds, and the position in what the current window gives.
class GroupStream final : public BatchStream {
 public:
  GroupStream(std::unique_ptr<BatchStream> input, const GroupFunctions& functions, ElementSpec spec,
              const Pass& pass)
      : input_(std::move(input)), functions_(functions), spec_(std::move(spec)), pass_(pass) {}
  bool next(Batch& out) override {
    FruitlessSteps fruitless("group_by_window: windows that give nothing came");
    while (stream_ || fill_window()) {
      if (!stream_) open();
      if (stream_->next(out)) return true;
      close();
      fruitless.add();
    }
    return false;
  }
  void save(StateWriter& state) const override {
    state.put(input_ended_);
    state.put(num_windows_);
    std::map<int64_t, std::pair<const Held*, bool>> all;
    for (const auto& [key, group] : groups_)
      for (const Held& element : group) all[element.number] = {&element, false};
    for (const Held& element : window_) all[element.number] = {&element, true};
    state.put(int64_t(all.size()));
    if (all.empty()) return input_->save(state);
    const int64_t oldest = all.begin()->first;
    state.put(num_read_ - oldest);
    for (const auto& [number, element] : all) state.put(2 * (number - oldest) + element.second);
    state.put(all.begin()->second.first->state_before);
    if (stream_) stream_->save(state);
  }
  void restore(StateReader& state) override {
    const bool ended = state.get(0, 1);
    num_windows_ = state.get();
    const int64_t count = state.get();
    const int64_t ahead = count > 0 ? state.get(count, INT64_MAX / 2) : 0;
    std::map<int64_t, bool> held;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = state.get(0, 2 * ahead - 1);
      held[place / 2] = place % 2;
    }
    input_->restore(state);
    for (int64_t i = 0; i < ahead; ++i) {
      Held element = read();
      if (input_ended_)
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
      const auto found = held.find(i);
      if (found == held.end()) continue;
      if (found->second)
        window_.push_back(std::move(element));
      else
        groups_[functions_.key(element.value)].push_back(std::move(element));
    }
    input_ended_ = ended;
    if (window_.empty()) return;
    open();
    stream_->restore(state);
  }

 private:
  struct Held {
    int64_t number = 0;  // number of input elements read so far
    std::vector<int64_t> state_before;
    Batch value;
  };

  Held read() {
    Held element{num_read_, state_of(*input_), {}};
    input_ended_ = !input_->next(element.value);
    num_read_ += !input_ended_;
    return element;
  }
  int64_t size_of_window(int64_t key) const {
    const int64_t size = functions_.window_size(key);
    if (size < 1)
      throw InvalidArgumentError(
          str_cat("group_by_window: the size of a window must be at least 1, got ", size));
    return size;
  }
  /// Fills window_ with the next full group, or, at the end, with the group of the smallest key;
  /// returns false when there is none.
  bool fill_window() {
    while (!input_ended_) {
      Held element = read();
      if (input_ended_) break;
      const int64_t key = functions_.key(element.value);
      const int64_t size = size_of_window(key);
      const auto group = groups_.try_emplace(key).first;
      group->second.push_back(std::move(element));
      if (int64_t(group->second.size()) >= size) return take(group);
    }
    return !groups_.empty() && take(groups_.begin());
  }
  bool take(std::map<int64_t, std::vector<Held>>::iterator group) {
    window_ = std::move(group->second);
    groups_.erase(group);
    ++num_windows_;
    return true;
  }
  void open() {
    std::vector<Batch> elements;
    for (const Held& element : window_) elements.push_back(element.value);
    const int64_t key = functions_.key(elements[0]);
    node_ =
        functions_.reduce(key, std::make_shared<WindowElementsNode>(std::move(elements), spec_));
    stream_ = node_->elements(pass_.child(num_windows_));
  }
  void close() {
    stream_.reset();
    node_.reset();
    window_.clear();
  }

  std::unique_ptr<BatchStream> input_;
  const GroupFunctions& functions_;
  ElementSpec spec_;
  Pass pass_;
  std::map<int64_t, std::vector<Held>> groups_;  // windows that are not full, by key
  std::vector<Held> window_;                     // whose reduced elements are given now
  NodePtr node_;                                 // what the window became
  std::unique_ptr<BatchStream> stream_;          // reads from node_, so it is destroyed first
  int64_t num_read_ = 0, num_windows_ = 0;
  bool input_ended_ = false;
};

class GroupNode final : public OneInputNode {
 public:
  GroupNode(NodePtr input, GroupFunctions functions)
      : OneInputNode(std::move(input)), functions_(std::move(functions)) {}
  const char* kind() const override { return functions_.kind; }
  std::vector<int64_t> parameters() const override { return functions_.parameters; }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return group_by_window_node(inputs.at(0), functions_);
  }
  ElementSpec element_spec() const override {
    if (functions_.spec) return functions_.spec(input().element_spec());
    std::call_once(spec_once_, [&] { spec_ = spec_of_first_window(); });
    return spec_;
  }
  bool spec_is_exact() const override { return functions_.spec && input().spec_is_exact(); }
  PassCount* passes() const override { return &passes_; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<GroupStream>(input().elements(pass), functions_, input().element_spec(),
                                         pass);
  }

 private:
  /// The spec of what a window of the first element becomes, or one without elements.
  ElementSpec spec_of_first_window() const {
    std::vector<Batch> elements(1);
    int64_t key = 0;
    if (input().elements({.number = kSpecPass})->next(elements[0]))
      key = functions_.key(elements[0]);
    else
      elements.clear();
    return functions_
        .reduce(key,
                std::make_shared<WindowElementsNode>(std::move(elements), input().element_spec()))
        ->element_spec();
  }

  GroupFunctions functions_;
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr group_by_window_node(NodePtr input, GroupFunctions functions) {
  return std::make_shared<data_internal::GroupNode>(std::move(input), std::move(functions));
}

DISTRIBUTE_INLINE Dataset
Dataset::group_by_window(std::function<int64_t(const Batch&)> key_func,
                         std::function<Dataset(int64_t key, const Dataset& window)> reduce_func,
                         std::function<int64_t(int64_t key)> window_size_func) const {
  const auto reduce = [reduce_func = std::move(reduce_func)](int64_t key, NodePtr window) {
    return reduce_func(key, Dataset(std::move(window))).node();
  };
  return Dataset(group_by_window_node(
      node_,
      {.key = std::move(key_func), .window_size = std::move(window_size_func), .reduce = reduce}));
}

DISTRIBUTE_INLINE Dataset
Dataset::group_by_window(std::function<int64_t(const Batch&)> key_func,
                         std::function<Dataset(int64_t key, const Dataset& window)> reduce_func,
                         int64_t window_size) const {
  return group_by_window(std::move(key_func), std::move(reduce_func),
                         [window_size](int64_t) { return window_size; });
}

}  // namespace distribute::data
