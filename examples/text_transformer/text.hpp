#pragma once
/// The text to learn, and texts that a network continues.

#include "flags.hpp"
#include "model.hpp"

#include <distribute/distribute.hpp>

#include <string>

namespace text_transformer {

struct Text {
  std::string training, test;  // the last twentieth is for the test
};

/// The files *.txt of a folder, in the order of their names.
/// Throws  distribute::Error for a folder without them; InvalidArgumentError for a byte that is
///         not below `vocabulary`, and for too little text for a piece of `context` in the test.
Text load_text(const std::string& directory, const Options& options);

/// Pieces of `context` characters, and as labels what follows each of them.
/// Shapes  int32 [context], int64 [context]
distribute::data::Dataset pieces(const std::string& text, int64_t context);

/// --prompt with --sample_length characters more, each drawn from what the network thinks of the
/// --context last ones. The same --seed gives the same text.
std::string continued(Decoder& model, const Options& options);

}  // namespace text_transformer
