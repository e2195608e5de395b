#pragma once
/// What tokenizers with a fixed vocabulary of parts of words share.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::preprocessing {

/// Texts to numbers and back. Thread-safe: `map` functions of datasets call it on any thread.
class Tokenizer {
 public:
  DISTRIBUTE_INLINE virtual ~Tokenizer();

  /// The numbers of the tokens of a text in UTF-8.
  DISTRIBUTE_INLINE virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  /// Throws  InvalidArgumentError for a number that has no token.
  DISTRIBUTE_INLINE virtual std::string decode(std::span<const int64_t> ids) const = 0;
  DISTRIBUTE_INLINE virtual int64_t vocabulary_size() const = 0;
  /// nullopt: the vocabulary does not have it.
  DISTRIBUTE_INLINE virtual std::optional<int64_t> token_to_id(const std::string& token) const = 0;

  /// Shorter texts end with pad_value. With sequence_length longer ones are cut to that number.
  /// Shapes  strings [d0, ...] (preprocessing/strings.hpp) -> int64 [d0, ..., tokens].
  Tensor operator()(const Tensor& texts) const;
  /// Numbers below 0 are left out.
  /// Shapes  integers [d0, ..., tokens] -> strings [d0, ...].
  Tensor detokenize(const Tensor& ids) const;

 protected:
  Tokenizer(std::optional<int64_t> sequence_length, int64_t pad_value)
      : sequence_length_(sequence_length), pad_value_(pad_value) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

 private:
  std::optional<int64_t> sequence_length_;
  int64_t pad_value_;
};

}  // namespace distribute::preprocessing
