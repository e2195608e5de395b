#pragma once
#include <distribute/io/xml.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace distribute::io_internal {

DISTRIBUTE_INLINE void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += char(code);
  } else if (code < 0x800) {
    out += {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
  } else if (code < 0x10000) {
    out += {char(0xE0 | code >> 12), char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
  } else if (code < 0x110000) {
    out += {char(0xF0 | code >> 18), char(0x80 | (code >> 12 & 0x3F)),
            char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
  }
}

/// `name` is what stands between & and ;. False when it means nothing.
DISTRIBUTE_INLINE bool append_entity(std::string& out, std::string_view name) {
  constexpr std::pair<std::string_view, char> kNames[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNames) {
    if (name == known) return out += character, true;
  }
  if (!name.starts_with('#')) return false;
  const bool hexadecimal = name.starts_with("#x");
  name.remove_prefix(hexadecimal ? 2 : 1);
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size()) return false;
  append_utf8(out, code);
  return true;
}

/// One pass over the text; every function returns false for what is no XML.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  bool document(io::XmlElement& root) {
    std::string outside;
    return content(outside, nullptr, 0) && take("<") && element(root, 0);
  }

 private:
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Drops everything up to and with `word`; gives what was before it.
  bool until(std::string_view word, std::string_view& before) {
    const size_t at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    before = rest_.substr(0, at);
    rest_.remove_prefix(at + word.size());
    return true;
  }
  bool character_data(std::string& text);
  /// Text, comments and children up to the next tag that belongs to the caller.
  bool content(std::string& text, io::XmlElement* parent, int depth);
  /// Behind its "<".
  bool element(io::XmlElement& out, int depth);

  std::string_view rest_;
};

DISTRIBUTE_INLINE bool XmlReader::character_data(std::string& text) {
  std::string_view entity;
  if (take("&")) return until(";", entity) && append_entity(text, entity);
  const size_t end = std::min(rest_.find_first_of("<&"), rest_.size());
  text.append(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return true;
}

DISTRIBUTE_INLINE bool XmlReader::content(std::string& text, io::XmlElement* parent, int depth) {
  std::string_view skipped;
  while (!rest_.empty()) {
    if (take("<?")) {
      if (!until("?>", skipped)) return false;
    } else if (take("<!--")) {
      if (!until("-->", skipped)) return false;
    } else if (take("<![CDATA[")) {
      if (!until("]]>", skipped)) return false;
      text.append(skipped);
    } else if (take("<!")) {
      if (!until(">", skipped)) return false;
    } else if (!rest_.starts_with('<')) {
      if (!character_data(text)) return false;
    } else if (!parent || rest_.starts_with("</")) {
      return true;
    } else {
      rest_.remove_prefix(1);
      if (!element(parent->children.emplace_back(), depth + 1)) return false;
    }
  }
  return false;  // cut off
}

DISTRIBUTE_INLINE bool XmlReader::element(io::XmlElement& out, int depth) {
  constexpr int kDeepest = 32;
  std::string_view tag, closing;
  if (depth > kDeepest || !until(">", tag)) return false;
  const bool empty = tag.ends_with('/');
  const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  if (name.empty()) return false;
  out.name = name.substr(name.find(':') + 1);
  if (empty) return true;
  if (!content(out.text, &out, depth) || !take("</") || !until(">", closing)) return false;
  return closing.substr(0, closing.find_first_of(" \t\r\n")) == name;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const XmlElement& element : children)
    if (element.name == wanted) return &element;
  return nullptr;
}

DISTRIBUTE_INLINE std::string XmlElement::text_of(std::string_view wanted) const {
  const XmlElement* found = child(wanted);
  return found ? found->text : "";
}

DISTRIBUTE_INLINE absl::StatusOr<XmlElement> parse_xml(std::string_view text) {
  XmlElement root;
  if (io_internal::XmlReader(text).document(root)) return root;
  return make_status(StatusCode::DataLoss,
                     concat("no XML, or damaged: '", text.substr(0, 100), "'"));
}

DISTRIBUTE_INLINE std::string xml_escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&apos;"; break;
      case '\r': escaped += "&#13;"; break;  // a bare one would be read as a line's end
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace distribute::io
