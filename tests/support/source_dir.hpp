#pragma once
/// Where the sources are that tests read data from, and the programs that they start.

#include <string>

namespace distribute::testing {

/// The folder that this program was built from, or DISTRIBUTE_TEST_SOURCE_DIR: programs that
/// scripts/gpu_check.sh has packed run on another machine.
std::string source_dir();

/// The folder of the programs that were built with this one.
std::string binary_dir();

}  // namespace distribute::testing
