#pragma once
/// One include for Catch2 v2 and v3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <string>
using Catch::Approx;
namespace Catch {
namespace Matchers {
// v3 looks for an element of a range under this name, v2 for a part of a text. One overload for
// each kind of argument: v3's own takes anything.
inline auto Contains(const char* part) { return ContainsSubstring(part); }
inline auto Contains(const std::string& part) { return ContainsSubstring(part); }
inline auto Contains(std::string& part) { return ContainsSubstring(part); }
inline auto Contains(std::string&& part) { return ContainsSubstring(part); }
}  // namespace Matchers
using Matchers::Contains;
}  // namespace Catch
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
