#pragma once
#include <distribute/base/json.hpp>

#include <nlohmann/json.hpp>

namespace distribute {

DISTRIBUTE_INLINE nlohmann::json json_of(const std::string& text) {
  // As untrusted::parse_json() reads, so that the compiler makes one parser.
  return nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
}

DISTRIBUTE_INLINE std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace distribute
