#pragma once
/// Reads the plain XML that S3 servers answer with: elements and text, attributes are passed over.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::io {

/// A value.
struct XmlElement {
  std::string name;  // without a namespace's prefix
  std::string text;  // its own, with entities resolved; not that of its children
  std::vector<XmlElement> children;

  /// The first child of this name, or null.
  const XmlElement* child(std::string_view wanted) const {
    for (const XmlElement& element : children)
      if (element.name == wanted) return &element;
    return nullptr;
  }
  /// The text of the first child of this name, or "".
  std::string text_of(std::string_view wanted) const {
    const XmlElement* found = child(wanted);
    return found ? found->text : "";
  }
};

/// False in a build without pugixml.
bool has_xml();

/// Entities beyond those of XML itself, such as those of a document type, stay as they are written.
/// Errors  DataLoss for what is no XML, is cut off, or is nested deeper than 32 elements;
///         Unimplemented in a build without pugixml.
absl::StatusOr<XmlElement> parse_xml(std::string_view text);

/// Text for between two tags: what XML would read as something else becomes an entity.
std::string xml_escape(std::string_view text);

}  // namespace distribute::io
