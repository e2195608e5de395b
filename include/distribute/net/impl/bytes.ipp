#pragma once
#include <distribute/net/bytes.hpp>

namespace distribute::net {

DISTRIBUTE_INLINE std::string printable(std::string_view text, size_t most) {
  std::string line(text.substr(0, most));
  for (char& c : line)
    if (uint8_t(c) < 0x20 || c == 0x7f) c = '?';
  if (text.size() > most) line += "...";
  return line;
}

}  // namespace distribute::net
