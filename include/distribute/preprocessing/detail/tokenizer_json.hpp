#pragma once
/// Reads the tokenizer.json of Hugging Face's tokenizers for a byte-pair tokenizer.

#include <distribute/preprocessing/detail/byte_pairs.hpp>
#include <distribute/preprocessing/detail/pattern.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// A step that cuts texts into pieces.
struct CutStep {
  bool add_prefix_space = false;
  std::optional<Pattern> pattern = {};
};

/// A token that is searched for in the text before the text is cut.
struct AddedToken {
  std::string content;
  int64_t id;
  bool special;
};

struct TokenizerParts {
  std::vector<AddedToken> added;  // the longest first
  std::vector<CutStep> steps;
  std::vector<int64_t> prefix, suffix;  // tokens before and after each text
  BytePairs pairs;
  std::map<int64_t, std::string> tokens;  // bytes of every token
};

/// Parses the file's text; `name` is the file's.
/// Throws  what BytePairTokenizer's constructor throws.
TokenizerParts parse_tokenizer_json(std::string_view text, const std::string& name);

}  // namespace distribute::preprocessing::preprocessing_internal
