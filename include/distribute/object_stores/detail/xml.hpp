#pragma once
/// Reads the plain XML of S3 servers' answers: elements and text; attributes are ignored.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::io {

/// An XML element with its children.
struct XmlElement {
  std::string name;  // without the prefix of a namespace
  std::string text;  // text outside of its children, entities resolved
  std::vector<XmlElement> children;

  /// The first child with this name, or null.
  const XmlElement* child(std::string_view wanted) const {
    for (const XmlElement& element : children)
      if (element.name == wanted) return &element;
    return nullptr;
  }
  /// The text of the first child with this name, or "".
  std::string text_of(std::string_view wanted) const {
    const XmlElement* found = child(wanted);
    return found ? found->text : "";
  }
};

/// False in a build without pugixml.
bool has_xml();

/// Parses a document. Entities that XML itself does not define stay as they are written.
/// Errors  DataLoss for text that is no XML, is cut off, or is nested deeper than 32 elements;
///         Unimplemented in a build without pugixml.
absl::StatusOr<XmlElement> parse_xml(std::string_view text);

/// Escapes text for use between two tags.
std::string xml_escape(std::string_view text);

}  // namespace distribute::io
