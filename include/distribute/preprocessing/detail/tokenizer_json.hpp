#pragma once
/// tokenizer.json of Hugging Face's tokenizers, read into what a byte-pair tokenizer needs.

#include <distribute/preprocessing/detail/byte_pairs.hpp>
#include <distribute/preprocessing/detail/pattern.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// A step that cuts texts.
struct CutStep {
  bool add_prefix_space = false;
  std::optional<Pattern> pattern = {};
};

/// A token that is found in the text before it is cut.
struct AddedToken {
  std::string content;
  int64_t id;
  bool special;
};

struct TokenizerParts {
  std::vector<AddedToken> added;  // the longest first
  std::vector<CutStep> steps;
  std::vector<int64_t> prefix, suffix;  // around each text
  BytePairs pairs;
  std::map<int64_t, std::string> tokens;  // bytes of all numbers
};

/// Throws  as BytePairTokenizer does; `name` is the file's.
TokenizerParts parse_tokenizer_json(std::string_view text, const std::string& name);

}  // namespace distribute::preprocessing::preprocessing_internal
