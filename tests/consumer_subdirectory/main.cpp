// A call into the library; what the whole of it costs header-only, the check on an installed copy
// has paid already.
#include <distribute/base/error.hpp>

#include <cstdio>

int main() {
  try {
    distribute::throw_error(distribute::StatusCode::NotFound, "nothing here");
  } catch (const distribute::NotFoundError& error) {
    std::printf("caught: %s\n", error.what());
    return 0;
  }
  return 1;
}
