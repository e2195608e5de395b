#pragma once
/// JSON values whose members stay in the order in which they were added.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace distribute {

/// Parses `text` and keeps the order of members; the result is_discarded() when it is not JSON.
nlohmann::ordered_json ordered_json_of(const std::string& text);

/// Formats one line, or lines indented by `indent` spaces a level; bytes that are not UTF-8 become
/// U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace distribute
