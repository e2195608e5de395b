#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/pipeline_facts.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace distribute::data::data_internal {

inline constexpr int64_t kFactsMark = 0x4661637473;  // "Facts"

/// In the order of a saved position.
inline constexpr const char* kFactNames[] = {
    "the batch size",      "the shuffle's buffer",   "the shuffle's seed",
    "the number of files", "the number of replicas", "the number of workers that take turns"};
inline constexpr int64_t kNoFact = -1;  // the pipeline has no such transformation

/// The uppermost node of a kind, or null.
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

/// Among how many replicas batches are cut, in either way.
DISTRIBUTE_INLINE int64_t count_pieces(const Node& node) {
  const Node* sizes = find_node(node, "Rebatch");  // and whether the remainder is dropped
  return sizes ? int64_t(sizes->parameters().size()) - 1 : parameter_of(node, "LegacyRebatch", 0);
}

DISTRIBUTE_INLINE std::vector<int64_t> pipeline_facts(const Node& node) {
  return {parameter_of(node, "Batch", 0),
          parameter_of(node, "Shuffle", 0),
          parameter_of(node, "Shuffle", 1),
          count_files(node),
          count_pieces(node),
          parameter_of(node, "Shard", 0),
          kFactsMark};
}

DISTRIBUTE_INLINE std::pair<std::span<const int64_t>, std::span<const int64_t>> split_facts(
    std::span<const int64_t> state) {
  const size_t length = std::size(kFactNames) + 1;
  if (state.size() < length || state.back() != kFactsMark) return {state, {}};
  return {state.first(state.size() - length), state.last(length)};
}

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
