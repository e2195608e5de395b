// The one file that is compiled with the folders' names, so that others compile alike in every
// clone.
#include "source_dir.hpp"

#include <cstdlib>

namespace distribute::testing {

std::string source_dir() {
  const char* const folder = std::getenv("DISTRIBUTE_TEST_SOURCE_DIR");
  return folder && *folder ? folder : DISTRIBUTE_SOURCE_DIR;
}

std::string binary_dir() { return DISTRIBUTE_BINARY_DIR; }

}  // namespace distribute::testing
