#pragma once
#include <distribute/http/http_client.hpp>

#include <absl/strings/ascii.h>

#include <algorithm>

namespace distribute::io {

DISTRIBUTE_INLINE const std::string* find_header(const HttpHeaders& headers,
                                                 std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
  for (const auto& [key, value] : headers) {
    const bool same = std::equal(key.begin(), key.end(), name.begin(), name.end(),
                                 [&](char a, char b) { return lower(a) == lower(b); });
    if (same) return &value;
  }
  return nullptr;
}

DISTRIBUTE_INLINE std::string HttpResponse::header(std::string_view name) const {
  const std::string* value = find_header(headers, name);
  return value ? *value : "";
}

DISTRIBUTE_INLINE std::string HttpResponse::excerpt() const {
  std::string text = body.substr(0, 200);
  std::replace_if(text.begin(), text.end(), absl::ascii_isspace, ' ');
  absl::RemoveExtraAsciiWhitespace(&text);
  return text;
}

}  // namespace distribute::io
