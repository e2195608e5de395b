#pragma once
/// JSON values whose members are sorted.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace distribute {

/// Parses `text`; the result is_discarded() when it is not JSON.
nlohmann::json json_of(const std::string& text);

/// Formats one line, or lines indented by `indent` spaces a level; bytes that are not UTF-8 become
/// U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace distribute
