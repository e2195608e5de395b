#pragma once
/// The flags that only resnet50 takes, and the recipe behind its defaults.

#include "../common/options.hpp"

#include <string>

namespace resnet50 {

struct Options {
  examples::TrainerOptions common;
#define GROUP(heading)
#define FLAG(type, name, value, rule, help) type name = value;
#include "resnet50_flags.inc"
#undef FLAG
#undef GROUP
};

/// Reads the command line. What is not given follows Goyal et al. 2017: momentum 0.9, rate 0.1 for
/// 256 pictures and in proportion, five epochs of warm-up, a tenth of the rate after 1/3, 2/3 and
/// 8/9 of training, decay 1e-4.
/// Prints one line and ends the process with status 2 on a wrong flag.
Options parse_options(int argc, char** argv);

}  // namespace resnet50
