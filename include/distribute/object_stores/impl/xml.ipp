#pragma once
#if DISTRIBUTE_HAS_PUGIXML
#include <distribute/object_stores/detail/xml.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <absl/strings/str_replace.h>
#include <pugixml.hpp>

namespace distribute::io_internal {

/// False when `from` is nested deeper than 32 elements: pugixml has no limit, but this recursion
/// needs one.
DISTRIBUTE_INLINE bool copy_element(pugi::xml_node from, io::XmlElement& to, int depth) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return false;
  const std::string_view name = from.name();
  to.name = name.substr(name.find(':') + 1);
  for (const pugi::xml_node child : from) {
    if (child.type() != pugi::node_element) {
      to.text += child.value();
    } else if (!copy_element(child, to.children.emplace_back(), depth + 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE bool has_xml() { return true; }

DISTRIBUTE_INLINE absl::StatusOr<XmlElement> parse_xml(std::string_view text) {
  pugi::xml_document document;
  // A key may consist of spaces.
  constexpr unsigned kFlags = pugi::parse_default | pugi::parse_ws_pcdata;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size(), kFlags);
  XmlElement root;
  if (parsed && io_internal::copy_element(document.document_element(), root, 0)) return root;
  return make_status(StatusCode::DataLoss,
                     str_cat("no XML, or damaged: '", text.substr(0, 100), "': ",
                             parsed ? "elements are nested too deeply" : parsed.description()));
}

DISTRIBUTE_INLINE std::string xml_escape(std::string_view text) {
  // pugixml's writer leaves a bare \r, which would be read as a line's end.
  return absl::StrReplaceAll({text.data(), text.size()},
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\r", "&#13;"}});
}

}  // namespace distribute::io
#endif
