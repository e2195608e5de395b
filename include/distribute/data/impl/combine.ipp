#pragma once
#include <distribute/data/detail/combine.hpp>
#include <distribute/data/detail/selection_node.hpp>

#include <algorithm>
#include <mutex>

namespace distribute::data {

namespace data_internal {

class ZipStream final : public BatchStream {
 public:
  explicit ZipStream(std::vector<std::unique_ptr<BatchStream>> inputs)
      : inputs_(std::move(inputs)) {}
  bool next(Batch& out) override {
    std::vector<Tensor> components;
    std::vector<Batch> parts(inputs_.size());
    for (size_t n = 0; n < inputs_.size(); ++n) {
      if (ended_ || !inputs_[n]->next(parts[n])) return !(ended_ = true);
      for (size_t i = 0; i < parts[n].size(); ++i) components.push_back(parts[n][i]);
    }
    out = Batch::from_components(std::move(components), join_names(parts));
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t done = ended_ ? 0 : count;
    for (const auto& input : inputs_) done = std::min(done, input->skip(done));
    ended_ = ended_ || done < count;
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(ended_);
    for (const auto& input : inputs_) input->save(state);
  }
  void restore(StateReader& state) override {
    ended_ = state.get(0, 1);
    for (const auto& input : inputs_) input->restore(state);
  }

 private:
  std::vector<std::unique_ptr<BatchStream>> inputs_;
  bool ended_ = false;
};

class ZipNode final : public CopiedNode<ZipNode, ManyInputsNode> {
 public:
  using CopiedNode::CopiedNode;
  const char* kind() const override { return "Zip"; }
  int64_t cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (const NodePtr& input : inputs_) {
      const int64_t count = input->cardinality();
      if (count == kUnknownCardinality) return count;
      if (count >= 0) least = least < 0 ? count : std::min(least, count);
    }
    return least;
  }
  ElementSpec element_spec() const override {
    ElementSpec spec;
    for (const NodePtr& input : inputs_)
      for (const TensorSpec& tensor : input->element_spec()) spec.push_back(tensor);
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    std::vector<std::unique_ptr<BatchStream>> streams;
    for (const NodePtr& input : inputs_) streams.push_back(input->elements(pass));
    return std::make_unique<ZipStream>(std::move(streams));
  }
};

class ConcatenateStream final : public BatchStream {
 public:
  ConcatenateStream(std::unique_ptr<BatchStream> first, std::unique_ptr<BatchStream> second)
      : current_(std::move(first)), second_(std::move(second)) {}
  bool next(Batch& out) override {
    if (current_->next(out)) return true;
    return switch_over() && current_->next(out);
  }
  int64_t skip(int64_t count) override {
    int64_t done = current_->skip(count);
    if (done < count && switch_over()) done += current_->skip(count - done);
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(second_ == nullptr);
    current_->save(state);
  }
  void restore(StateReader& state) override {
    if (state.get(0, 1)) switch_over();
    current_->restore(state);
  }

 private:
  bool switch_over() {
    if (!second_) return false;
    current_ = std::move(second_);
    return true;
  }

  std::unique_ptr<BatchStream> current_, second_;
};

class ConcatenateNode final : public CopiedNode<ConcatenateNode, ManyInputsNode> {
 public:
  using CopiedNode::CopiedNode;
  const char* kind() const override { return "Concatenate"; }
  int64_t cardinality() const override {
    const int64_t a = inputs_[0]->cardinality(), b = inputs_[1]->cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) return kInfiniteCardinality;
    return a < 0 || b < 0 ? kUnknownCardinality : a + b;
  }
  ElementSpec element_spec() const override {
    return common_spec(inputs_[0]->element_spec(), inputs_[1]->element_spec());
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<ConcatenateStream>(inputs_[0]->elements(pass),
                                               inputs_[1]->elements(pass));
  }
};

/// The elements of one complete pass. Thread-safe; immutable once it is complete. A copy is empty.
template <typename T>
class CacheStore {
 public:
  CacheStore() = default;
  CacheStore(const CacheStore&) {}
  std::shared_ptr<const std::vector<T>> get() const {
    std::lock_guard lock(mutex_);
    return elements_;
  }
  void set_if_none(std::vector<T> elements) {
    std::lock_guard lock(mutex_);
    if (!elements_) elements_ = std::make_shared<const std::vector<T>>(std::move(elements));
  }

 private:
  mutable std::mutex mutex_;  // guards elements_
  std::shared_ptr<const std::vector<T>> elements_;
};

template <typename T>
class CacheStream final : public Stream<T> {
 public:
  CacheStream(const Node& input, CacheStore<T>& store) : store_(store), kept_(store.get()) {
    // The cache always has the order of pass 0, whichever pass fills it, so that a saved position
    // finds it.
    if (!kept_) input_ = open_stream<T>(input, {});
  }
  bool next(T& out) override {
    if (!kept_) return read(out);
    if (given_ == int64_t(kept_->size())) return false;
    out = (*kept_)[size_t(given_++)];
    return true;
  }
  int64_t skip(int64_t count) override {
    if (!kept_) return Stream<T>::skip(count);
    const int64_t done = std::min(count, int64_t(kept_->size()) - given_);
    given_ += done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { this->replay(state.get()); }

 private:
  bool read(T& out) {
    if (input_->next(out)) {
      collected_.push_back(out);
      ++given_;
      return true;
    }
    store_.set_if_none(std::move(collected_));
    kept_ = store_.get();
    given_ = int64_t(kept_->size());
    return false;
  }

  CacheStore<T>& store_;
  std::shared_ptr<const std::vector<T>> kept_;
  std::unique_ptr<Stream<T>> input_;
  std::vector<T> collected_;
  int64_t given_ = 0;
};

class CacheNode final : public SelectionNode<CacheNode> {
 public:
  explicit CacheNode(NodePtr input) : SelectionNode(std::move(input)) {}
  const char* kind() const override { return "Cache"; }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass&) const {
    if constexpr (std::is_same_v<T, Batch>)
      return std::make_unique<CacheStream<T>>(input(), elements_);
    else
      return std::make_unique<CacheStream<T>>(input(), rows_);
  }

 private:
  mutable CacheStore<Batch> elements_;
  mutable CacheStore<int64_t> rows_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr zip_node(std::vector<NodePtr> inputs) {
  if (inputs.empty()) throw InvalidArgumentError("zip: there are no datasets");
  return std::make_shared<data_internal::ZipNode>(std::move(inputs));
}

DISTRIBUTE_INLINE NodePtr concatenate_node(NodePtr first, NodePtr second) {
  common_spec(first->element_spec(), second->element_spec());  // throws when they differ
  return std::make_shared<data_internal::ConcatenateNode>(
      std::vector<NodePtr>{std::move(first), std::move(second)});
}

DISTRIBUTE_INLINE NodePtr cache_node(NodePtr input) {
  return std::make_shared<data_internal::CacheNode>(std::move(input));
}

}  // namespace distribute::data
