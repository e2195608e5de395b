#pragma once
#include <distribute/base/detail/safe_text.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace distribute::base_internal {

struct CodeRange {
  uint32_t first, last;
};

template <size_t N>
bool is_in(const std::array<CodeRange, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

inline constexpr std::array<CodeRange, 15> kUnsafe{{{0, 0x1F},
                                                    {0x7F, 0x9F},
                                                    {0xAD, 0xAD},
                                                    {0x61C, 0x61C},
                                                    {0x180E, 0x180E},
                                                    {0x200B, 0x200F},
                                                    {0x2028, 0x202E},
                                                    {0x2060, 0x206F},
                                                    {0xD800, 0xF8FF},
                                                    {0xFE00, 0xFE0F},
                                                    {0xFEFF, 0xFEFF},
                                                    {0xFFF0, 0xFFFB},
                                                    {0xFFFE, 0xFFFF},
                                                    {0x1D173, 0x1D17A},
                                                    {0xE0000, 0x10FFFF}}};

/// Latin, Greek, Cyrillic, Armenian, Georgian; kana, Han, Hangul.
inline constexpr std::array<CodeRange, 13> kLetters{{{0x20, 0x7E},
                                                     {0xC0, 0xD6},
                                                     {0xD8, 0xF6},
                                                     {0xF8, 0x24F},
                                                     {0x386, 0x386},
                                                     {0x388, 0x481},
                                                     {0x48A, 0x556},
                                                     {0x561, 0x587},
                                                     {0x10A0, 0x10FF},
                                                     {0x1E00, 0x1EFF},
                                                     {0x3041, 0x30FF},
                                                     {0x4E00, 0x9FFF},
                                                     {0xAC00, 0xD7A3}}};

DISTRIBUTE_INLINE bool is_unsafe(uint32_t code) { return is_in(kUnsafe, code); }
DISTRIBUTE_INLINE bool is_plain_letter(uint32_t code) { return is_in(kLetters, code); }

DISTRIBUTE_INLINE Utf8Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {1, first};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  uint32_t code = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // what is longer than needed is none
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[length] || surrogate || code > 0x10FFFF ? Utf8Character{}
                                                               : Utf8Character{length, code};
}

DISTRIBUTE_INLINE std::string escaped(Utf8Character character, std::string_view text) {
  char escape[16];
  if (character.length <= 1)
    std::snprintf(escape, sizeof escape, "\\x%02x", unsigned(uint8_t(text[0])));
  else
    std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(character.code));
  return escape;
}

/// `stays` says which characters are copied; no UTF-8 never is.
template <typename Stays>
std::string escape_all_but(std::string_view text, size_t most, Stays stays) {
  std::string line;
  while (!text.empty() && line.size() < most) {
    const Utf8Character character = first_character(text);
    const size_t length = std::max<size_t>(character.length, 1);
    if (character.length > 0 && stays(character.code))
      line += text.substr(0, length);
    else
      line += escaped(character, text);
    text.remove_prefix(length);
  }
  return text.empty() ? line : line + "...";
}

DISTRIBUTE_INLINE std::string safe_line(std::string_view text) {
  return escape_all_but(text, std::string_view::npos,
                        [](uint32_t code) { return !is_unsafe(code); });
}

DISTRIBUTE_INLINE std::string safe_lines(std::string_view text) {
  return escape_all_but(text, std::string_view::npos, [](uint32_t code) {
    return code == '\n' || code == '\t' || !is_unsafe(code);
  });
}

DISTRIBUTE_INLINE std::string plain_letters(std::string_view text, size_t most) {
  return escape_all_but(text, most, is_plain_letter);
}

}  // namespace distribute::base_internal
