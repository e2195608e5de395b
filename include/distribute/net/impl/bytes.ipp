#pragma once
#include <distribute/base/detail/safe_text.hpp>
#include <distribute/net/bytes.hpp>

namespace distribute::net {

DISTRIBUTE_INLINE std::string printable(std::string_view text, size_t most) {
  return base_internal::plain_letters(text, most);
}

}  // namespace distribute::net
