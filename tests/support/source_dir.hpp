#pragma once
/// Where the sources are that tests read data from.

#include <cstdlib>
#include <string>

namespace distribute::testing {

/// The folder that this program was built from, or DISTRIBUTE_TEST_SOURCE_DIR: programs that
/// scripts/gpu_check.sh has packed run on another machine.
inline std::string source_dir() {
  const char* const folder = std::getenv("DISTRIBUTE_TEST_SOURCE_DIR");
  return folder && *folder ? folder : DISTRIBUTE_SOURCE_DIR;
}

}  // namespace distribute::testing
