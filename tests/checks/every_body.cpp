// The whole library header-only, with everything that was found: each function is compiled although
// nothing calls it (-fkeep-inline-functions), so that a body that is missing shows.
#include "every_header.hpp"
