#pragma once
/// Makes text from outside safe, so that it cannot send commands to a terminal.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::base_internal {

/// One character of UTF-8: its number of bytes, and its code. Length 0: not UTF-8.
struct Utf8Character {
  size_t length = 0;
  uint32_t code = 0;
};
Utf8Character first_character(std::string_view text);

/// Whether the character is a control character (C0, C1, DEL), changes the direction of writing, is
/// invisible, separates lines, or is a code point for private use.
bool is_unsafe(uint32_t code);
/// Whether the character is printable ASCII, or a letter of a script that is written from left to
/// right.
bool is_plain_letter(uint32_t code);

/// Returns "\x1b" for a byte that is not UTF-8 and for an ASCII control character, "\u202e" for
/// others.
std::string escaped(Utf8Character character, std::string_view text);

/// Returns one line for a log, with unsafe characters escaped.
std::string safe_line(std::string_view text);
/// Returns a text of several lines with unsafe characters escaped, except line feeds and tabs.
std::string safe_lines(std::string_view text);
/// Returns text of a peer that is not authenticated, with all characters but plain letters escaped;
/// about `most` bytes.
std::string plain_letters(std::string_view text, size_t most);

}  // namespace distribute::base_internal
