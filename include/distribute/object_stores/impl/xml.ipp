#pragma once
#if DISTRIBUTE_HAS_PUGIXML
#include <distribute/object_stores/detail/xml.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <absl/strings/str_replace.h>
#include <algorithm>

#include <pugixml.hpp>

namespace distribute::io_internal {

/// Refuses text with entities that XML does not know, which pugixml would leave as they stand. For
/// documents that were read without resolving entities.
class EntityCheck final : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& node) override {
    return node.type() != pugi::node_pcdata || are_known(node.value());
  }

 private:
  static bool is_known(std::string_view name) {
    for (const char* known : {"amp", "lt", "gt", "quot", "apos"})
      if (name == known) return true;
    const bool hexadecimal = name.starts_with("#x");
    const std::string_view digits = name.substr(std::min(name.size(), hexadecimal ? 2ul : 1ul));
    return name.starts_with('#') && !digits.empty() &&
           digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") ==
               std::string_view::npos;
  }
  static bool are_known(std::string_view text) {
    for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const size_t end = text.find(';', at);
      if (end == std::string_view::npos || !is_known(text.substr(at + 1, end - at - 1)))
        return false;
    }
    return true;
  }
};

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
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), kFlags & ~pugi::parse_escapes);
  const char* problem = parsed.description();
  XmlElement root;
  if (io_internal::EntityCheck entities; parsed && document.traverse(entities)) {
    document.load_buffer(text.data(), text.size(), kFlags);
    if (io_internal::copy_element(document.document_element(), root, 0)) return root;
    problem = "elements are nested too deeply";
  } else if (parsed) {
    problem = "an unknown entity";
  }
  return make_status(StatusCode::DataLoss,
                     str_cat("no XML, or damaged: '", text.substr(0, 100), "': ", problem));
}

DISTRIBUTE_INLINE std::string xml_escape(std::string_view text) {
  // pugixml's writer leaves a bare \r, which would be read as a line's end.
  return absl::StrReplaceAll({text.data(), text.size()},
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\r", "&#13;"}});
}

}  // namespace distribute::io
#endif
