#pragma once
#include <distribute/base/ordered_json.hpp>

#include <nlohmann/json.hpp>

namespace distribute {

DISTRIBUTE_INLINE nlohmann::ordered_json ordered_json_of(const std::string& text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

DISTRIBUTE_INLINE std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace distribute
