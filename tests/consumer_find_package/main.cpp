// The smallest user program: the header, one call into a compiled part.
#include <distribute/strategy.hpp>

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
