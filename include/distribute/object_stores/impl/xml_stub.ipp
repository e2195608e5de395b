#pragma once
#if !DISTRIBUTE_HAS_PUGIXML
#include <distribute/base/config.hpp>
#include <distribute/object_stores/detail/xml.hpp>

namespace distribute::io {

DISTRIBUTE_INLINE bool has_xml() { return false; }

DISTRIBUTE_INLINE absl::StatusOr<XmlElement> parse_xml(std::string_view) {
  return absl::UnimplementedError(
      "this build reads no XML, which S3 servers answer with; " DISTRIBUTE_GET_PUGIXML);
}

DISTRIBUTE_INLINE std::string xml_escape(std::string_view) { return ""; }

}  // namespace distribute::io
#endif
