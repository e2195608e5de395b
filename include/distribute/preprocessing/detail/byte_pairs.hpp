#pragma once
/// Byte-pair encoding: bytes of a word, joined in the order in which the pairs were learned.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// Thread-safe after its making. n log n in the length of a word.
/// Source  Sennrich et al., "Neural machine translation of rare words with subword units", 2016
class BytePairs {
 public:
  using Vocabulary = std::unordered_map<std::string, int64_t>;

  /// `merges`: pairs of tokens, the first learned one first. `whole_words`: a word that is a token
  /// needs no pairs. `unknown` stands for bytes that are no token; none: they are left out.
  /// Throws  InvalidArgumentError for a pair whose parts, or whose sum, are no tokens.
  BytePairs(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
            bool whole_words, std::optional<int64_t> unknown);

  /// Adds the tokens of a word.
  void encode(std::string_view word, std::vector<int64_t>& ids) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Merge {
    int64_t rank, id;
  };
  struct Part;
  const Merge* merge_of(int64_t left, int64_t right) const;
  std::vector<Part> parts_of(std::string_view word) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merge> merges_;  // by the two numbers
  bool whole_words_;
  std::optional<int64_t> unknown_;
};

}  // namespace distribute::preprocessing::preprocessing_internal
