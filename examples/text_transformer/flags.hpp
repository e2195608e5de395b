#pragma once
/// The flags that only text_transformer takes, and the recipe behind its defaults.

#include "../common/options.hpp"

#include <string>

namespace text_transformer {

struct Options {
  examples::TrainerOptions common;
#define GROUP(heading)
#define FLAG(type, name, value, rule, help) type name = value;
#include "text_transformer_flags.inc"
#undef FLAG
#undef GROUP
};

/// Reads the command line. What is not given: AdamW with a rate of 2e-3 that falls along a cosine
/// to a twentieth, decay 0.1, gradients of norm 1 at most, batches of 16.
/// Prints one line and ends the process with status 2 on a wrong flag.
Options parse_options(int argc, char** argv);

}  // namespace text_transformer
