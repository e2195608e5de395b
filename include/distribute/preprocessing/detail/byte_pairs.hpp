#pragma once
/// Byte-pair encoding: joins the bytes of a word in the order in which the pairs were learned.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// Encodes words in n log n steps for a word of length n. Thread-safe once it is made.
/// Source  Sennrich et al., "Neural machine translation of rare words with subword units", 2016
class BytePairs {
 public:
  using Vocabulary = std::unordered_map<std::string, int64_t>;

  /// `merges` has pairs of tokens in the order in which they were learned. With `whole_words` a
  /// word that is a token needs no pairs. `unknown` replaces bytes that are no token; without it
  /// they are left out.
  /// Throws  InvalidArgumentError for a pair whose parts, or whose joined text, are no tokens.
  BytePairs(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
            bool whole_words, std::optional<int64_t> unknown);

  /// Appends the tokens of a word to `ids`.
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
  std::unordered_map<uint64_t, Merge> merges_;  // key: the numbers of both tokens
  bool whole_words_;
  std::optional<int64_t> unknown_;
};

}  // namespace distribute::preprocessing::preprocessing_internal
