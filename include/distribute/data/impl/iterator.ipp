#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/data/detail/input_metrics.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::data::data_internal {

inline constexpr int64_t kFactsMark = 0x4661637473;  // "Facts"

/// Names of the facts, in the order of a saved position.
inline constexpr const char* kFactNames[] = {
    "the batch size",      "the shuffle's buffer",   "the shuffle's seed",
    "the number of files", "the number of replicas", "the number of workers that take turns"};
inline constexpr int64_t kNoFact = -1;  // the pipeline has no such transformation

/// Finds the last node of a kind, or null.
DISTRIBUTE_INLINE const Node* find_node(const Node& node, std::string_view kind) {
  if (node.kind() == kind) return &node;
  for (const NodePtr& input : node.inputs())
    if (const Node* found = find_node(*input, kind)) return found;
  return nullptr;
}

DISTRIBUTE_INLINE int64_t parameter_of(const Node& node, std::string_view kind, size_t number) {
  const Node* found = find_node(node, kind);
  return found ? found->parameters().at(number) : kNoFact;
}

DISTRIBUTE_INLINE int64_t count_files(const Node& node) {
  int64_t count = int64_t(node.files().size());
  for (const NodePtr& input : node.inputs()) count += count_files(*input);
  return count;
}

/// Gives the number of replicas among which batches are cut, in either way.
DISTRIBUTE_INLINE int64_t count_pieces(const Node& node) {
  const Node* sizes = find_node(node, "Rebatch");  // also whether the remainder is dropped
  return sizes ? int64_t(sizes->parameters().size()) - 1 : parameter_of(node, "LegacyRebatch", 0);
}

/// Makes the end of a saved position: a few numbers of the pipeline, such as the batch size, and a
/// mark.
DISTRIBUTE_INLINE std::vector<int64_t> pipeline_facts(const Node& node) {
  return {parameter_of(node, "Batch", 0),
          parameter_of(node, "Shuffle", 0),
          parameter_of(node, "Shuffle", 1),
          count_files(node),
          count_pieces(node),
          parameter_of(node, "Shard", 0),
          kFactsMark};
}

/// Splits a saved position into the position proper and the facts, which may be absent.
DISTRIBUTE_INLINE std::pair<std::span<const int64_t>, std::span<const int64_t>> split_facts(
    std::span<const int64_t> state) {
  const size_t length = std::size(kFactNames) + 1;
  if (state.size() < length || state.back() != kFactsMark) return {state, {}};
  return {state.first(state.size() - length), state.last(length)};
}

/// Says which of the facts have changed, and what to do about it.
DISTRIBUTE_INLINE std::string what_changed(std::span<const int64_t> saved, const Node& node) {
  const std::vector<int64_t> now = pipeline_facts(node);
  const auto text = [](int64_t fact) { return fact == kNoFact ? "none" : std::to_string(fact); };
  std::string changes;
  for (size_t i = 0; i < std::size(kFactNames) && !saved.empty(); ++i)
    if (saved[i] != now[i])
      changes += str_cat(changes.empty() ? "" : ", ", kFactNames[i], " is ", text(now[i]),
                         ", it was ", text(saved[i]));
  if (changes.empty()) changes = "its elements or transformations are others";
  return "the saved position belongs to another dataset: " + changes +
         "; make the dataset as it was, or restore without the iterator, and training goes on with "
         "a new pass over the data";
}

}  // namespace distribute::data::data_internal

namespace distribute::data {

DISTRIBUTE_INLINE Iterator::Iterator(NodePtr dataset)
    : dataset_(std::move(dataset)),
      pass_(pass_over(*dataset_, take_pass(*dataset_))),
      stream_(dataset_->elements(pass_)) {}

DISTRIBUTE_INLINE Iterator& Iterator::operator=(Iterator&& other) noexcept {
  std::swap(dataset_, other.dataset_);
  std::swap(pass_, other.pass_);
  std::swap(stream_, other.stream_);
  return *this;
}

/// Counts examples: components that share their first axis are a batch, anything else is one
/// example.
DISTRIBUTE_INLINE int64_t examples_in(const Batch& element) {
  for (size_t i = 0; i < element.size(); ++i)
    if (element[i].shape().rank() == 0 || element[i].shape()[0] != element.x.shape()[0]) return 1;
  return element.size() > 0 ? element.x.shape()[0] : 0;
}

/// Takes an element from the stream, and measures the time.
DISTRIBUTE_INLINE bool take_element(BatchStream& stream, Batch& element) {
  data_internal::InputMetrics& metrics = data_internal::input_metrics();
  const monitoring::Waiting waiting(metrics.wait);
  if (!stream.next(element)) return false;
  metrics.examples.increment_by(examples_in(element));
  return true;
}

DISTRIBUTE_INLINE Batch Iterator::next() {
  throw_if_cancelled();
  Batch element;
  if (!take_element(*stream_, element)) throw OutOfRangeError("the end of the dataset is reached");
  return element;
}

DISTRIBUTE_INLINE std::optional<Batch> Iterator::get_next_as_optional() {
  throw_if_cancelled();
  std::optional<Batch> element(std::in_place);
  if (!take_element(*stream_, *element)) element.reset();
  return element;
}

DISTRIBUTE_INLINE Tensor Iterator::state() const {
  StateWriter state;
  state.put(fingerprint(*dataset_));
  state.put(int64_t(pass_.number));
  stream_->save(state);
  state.put(data_internal::pipeline_facts(*dataset_));
  return Tensor(Shape{int64_t(state.values().size())}, state.values());
}

DISTRIBUTE_INLINE void Iterator::restore(const Tensor& state) {
  const auto [position, saved] = data_internal::split_facts(state.data<int64_t>());
  StateReader reader(position);
  if (reader.get() != fingerprint(*dataset_))
    throw InvalidArgumentError(data_internal::what_changed(saved, *dataset_));
  const Pass pass = pass_over(*dataset_, uint64_t(reader.get()));
  auto stream = dataset_->elements(pass);
  stream->restore(reader);
  if (!reader.at_end()) throw InvalidArgumentError("the saved position is too long");
  stream_ = std::move(stream);
  pass_ = pass;
  set_next_pass(*dataset_, pass.number + 1);
}

}  // namespace distribute::data
