#pragma once
/// JSON text in and out. The library's parser and writer are large: they are compiled here once.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace distribute {

/// The value that `text` describes; is_discarded() when it is not JSON.
nlohmann::json json_of(const std::string& text);

/// One line, or lines indented by `indent` spaces a level; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace distribute
