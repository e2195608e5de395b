#pragma once
/// Text that is C++ and kernel text at once, so that one definition serves the host and GPUs.

/// Defines the further arguments here and also as the string `name`: structures of a kernel's
/// arguments, and rows of formulas that the CPU's loops and the GPU's kernels share. The text
/// includes nothing; it may name only itself and kernels/prelude.cu.inc.
#define DISTRIBUTE_KERNEL_TEXT(name, ...) \
  __VA_ARGS__                             \
  inline constexpr char name[] = #__VA_ARGS__;

#include <array>
#include <cstddef>
#include <string_view>

namespace distribute::device_internal {

/// The name of a class without its namespaces, as kernel text calls it.
template <typename T>
constexpr std::string_view unqualified_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = a::b::Name; ...]"
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

/// Joins texts in static storage.
template <const auto&... Parts>
struct JoinedText {
  static constexpr auto kValue = [] {
    std::array<char, (sizeof(Parts) + ... + 1)> joined{};
    size_t at = 0;
    const auto append = [&](const char* text, size_t size) {
      for (size_t i = 0; i + 1 < size; ++i) joined[at++] = text[i];
      joined[at++] = '\n';
    };
    (append(Parts, sizeof(Parts)), ...);
    return joined;
  }();
  static constexpr std::string_view kText{kValue.data(), kValue.size() - 1};
};

}  // namespace distribute::device_internal
