#pragma once
/// Catch2, v2 and v3 alike, its matchers of texts, and the standard headers of all tests.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
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
/// Catch2 v2 has no SKIP: ends the test, from helpers too, with a warning that ctest's output
/// shows. The runner takes the exception for the end of a test that has said what there is to say.
#define SKIP(message)                    \
  do {                                   \
    WARN("skipped: " << message);        \
    throw Catch::TestFailureException(); \
  } while (false)
#endif

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
