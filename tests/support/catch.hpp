#pragma once
/// One include for Catch2 v2 and v3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // listeners
#include <catch2/catch.hpp>
/// Catch2 v2 has no SKIP: leave the test with a warning that ctest's output shows.
#define SKIP(message)          \
  do {                         \
    WARN("skipped: " message); \
    return;                    \
  } while (false)
#endif
