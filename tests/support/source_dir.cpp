// The one file that is compiled with the folders' names, so that others compile alike in every clone.
#include "source_dir.hpp"

#include <cstdlib>
#include <tests/support/source_dir.hpp>

namespace distribute::testing {

std::string source_dir() {
  const char* const folder = std::getenv("DISTRIBUTE_TEST_SOURCE_DIR");
  return folder && *folder ? folder : distribute::testing::source_dir();
}

std::string binary_dir() { return distribute::testing::binary_dir(); }

}  // namespace distribute::testing
