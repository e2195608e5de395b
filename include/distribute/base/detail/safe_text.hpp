#pragma once
/// Text that others have sent or named, so that it cannot give commands to a terminal.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::base_internal {

/// One character of UTF-8: how many bytes it has, and which it is. Length 0: no UTF-8.
struct Utf8Character {
  size_t length = 0;
  uint32_t code = 0;
};
Utf8Character first_character(std::string_view text);

/// Control characters (C0, C1, DEL), those that change the direction of writing, invisible ones,
/// separators of lines, and code points for private use.
bool is_unsafe(uint32_t code);
/// ASCII that can be printed, and letters of scripts that are written from left to right.
bool is_plain_letter(uint32_t code);

/// "\x1b" for a byte that is no UTF-8 and for an ASCII control character, "\u202e" for others.
std::string escaped(Utf8Character character, std::string_view text);

/// One line for a log: what is unsafe is escaped.
std::string safe_line(std::string_view text);
/// The same of a text of several lines: line feeds and tabs stay.
std::string safe_lines(std::string_view text);
/// Text of a peer that has not proved the job's token: all but plain letters is escaped; about
/// `most` bytes.
std::string plain_letters(std::string_view text, size_t most);

}  // namespace distribute::base_internal
