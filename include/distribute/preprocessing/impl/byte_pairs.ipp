#pragma once
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/byte_pairs.hpp>

#include <queue>
#include <tuple>

namespace distribute::preprocessing::preprocessing_internal {

/// A token of a word, with its neighbours; -1 means that there is no neighbour. A token that was
/// joined to the one before it has the number -1.
struct BytePairs::Part {
  int64_t id, before, after;
};

DISTRIBUTE_INLINE uint64_t pair_key(int64_t left, int64_t right) {
  return uint64_t(left) << 32 | uint64_t(right);
}

DISTRIBUTE_INLINE BytePairs::BytePairs(
    Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
    bool whole_words, std::optional<int64_t> unknown)
    : vocabulary_(std::move(vocabulary)), whole_words_(whole_words), unknown_(unknown) {
  const auto id_of = [&](const std::string& token) {
    const auto found = vocabulary_.find(token);
    if (found == vocabulary_.end())
      throw InvalidArgumentError("byte pairs: '" + token + "' is in a pair but no token");
    return found->second;
  };
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    merges_.insert_or_assign(pair_key(id_of(left), id_of(right)),
                             Merge{int64_t(rank), id_of(left + right)});
  }
}

DISTRIBUTE_INLINE const BytePairs::Merge* BytePairs::merge_of(int64_t left, int64_t right) const {
  if (left < 0 || right < 0) return nullptr;
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

DISTRIBUTE_INLINE std::vector<BytePairs::Part> BytePairs::parts_of(std::string_view word) const {
  std::vector<Part> parts;
  for (const char byte : word) {
    const auto found = vocabulary_.find(std::string(1, byte));
    if (found == vocabulary_.end() && !unknown_) continue;
    const int64_t id = found == vocabulary_.end() ? *unknown_ : found->second;
    const int64_t at = int64_t(parts.size());
    parts.push_back({id, at - 1, at + 1});
  }
  if (!parts.empty()) parts.back().after = -1;
  return parts;
}

DISTRIBUTE_INLINE void BytePairs::encode(std::string_view word, std::vector<int64_t>& ids) const {
  if (whole_words_)
    if (const auto found = vocabulary_.find(std::string(word)); found != vocabulary_.end())
      return ids.push_back(found->second);
  std::vector<Part> parts = parts_of(word);
  // A candidate has the pair's rank, the place of the left part, and the joined token. The pair
  // that was learned first is the smallest; among equal pairs, the first in the word.
  using Candidate = std::tuple<int64_t, int64_t, int64_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](int64_t left) {
    if (left < 0 || parts[size_t(left)].after < 0) return;
    const Part& part = parts[size_t(left)];
    if (const Merge* merge = merge_of(part.id, parts[size_t(part.after)].id))
      candidates.emplace(merge->rank, left, merge->id);
  };
  for (size_t i = 0; i < parts.size(); ++i) consider(int64_t(i));
  while (!candidates.empty()) {
    const auto [rank, left, id] = candidates.top();
    candidates.pop();
    Part& part = parts[size_t(left)];
    if (part.id < 0 || part.after < 0) continue;
    Part& next = parts[size_t(part.after)];
    const Merge* merge = merge_of(part.id, next.id);
    if (!merge || merge->rank != rank) continue;  // a part has become another token
    part.id = id;
    next.id = -1;
    part.after = next.after;
    if (part.after >= 0) parts[size_t(part.after)].before = left;
    consider(left);
    consider(part.before);
  }
  for (const Part& part : parts)
    if (part.id >= 0) ids.push_back(part.id);
}

}  // namespace distribute::preprocessing::preprocessing_internal
