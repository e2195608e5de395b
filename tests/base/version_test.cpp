#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("the version is the three numbers of the macros", "[base][version]") {
  CHECK(kVersion == str_cat(DISTRIBUTE_VERSION_MAJOR, ".", DISTRIBUTE_VERSION_MINOR, ".",
                            DISTRIBUTE_VERSION_PATCH));
}
