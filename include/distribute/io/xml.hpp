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
  const XmlElement* child(std::string_view wanted) const;
  /// The text of the first child of this name, or "".
  std::string text_of(std::string_view wanted) const;
};

/// A document type's own entities are not known.
/// Errors  DataLoss for what is no XML, is cut off, or is nested deeper than 32 elements.
absl::StatusOr<XmlElement> parse_xml(std::string_view text);

/// & < > " ' as entities.
std::string xml_escape(std::string_view text);

}  // namespace distribute::io

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/io/impl/xml.ipp>
#endif
