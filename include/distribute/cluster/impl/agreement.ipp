#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/detail/agreement.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::cluster_internal {

using AgreementJson = nlohmann::json;
/// The values at one path in two descriptions; null if a description has none.
using JsonPair = std::pair<const AgreementJson*, const AgreementJson*>;

inline const AgreementJson* json_item(const AgreementJson& list, size_t i) {
  return i < list.size() ? &list[i] : nullptr;
}
inline const AgreementJson* json_item(const AgreementJson& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

inline bool json_differ(const JsonPair& at) {
  return !at.first || !at.second || *at.first != *at.second;
}

/// Position of the comparison: the pair there, and its path for programs and for messages.
struct JsonPlace {
  JsonPair at;
  AgreementJson::json_pointer pointer = AgreementJson::json_pointer();
  std::string path = "";

  /// Goes one step down, if the values differ there.
  template <typename Key>
  bool step(const Key& key) {
    const JsonPair below{json_item(*at.first, key), json_item(*at.second, key)};
    if (!json_differ(below)) return false;
    at = below;
    pointer /= key;
    path += str_cat("/", key);
    return true;
  }
};

/// Whether it is a short list of plain values, such as a shape, which is shown whole.
DISTRIBUTE_INLINE bool is_short_list(const AgreementJson& list) {
  return list.size() <= 8 &&
         std::none_of(list.begin(), list.end(), [](const auto& x) { return x.is_structured(); });
}

/// Goes one step towards the first difference; false at its end.
DISTRIBUTE_INLINE bool descend(JsonPlace& place) {
  const auto [a, b] = place.at;
  if (!a || !b) return false;
  if (a->is_array() && b->is_array() && !(is_short_list(*a) && is_short_list(*b)))
    for (size_t i = 0; i < std::max(a->size(), b->size()); ++i)
      if (place.step(i)) return true;
  if (a->is_object() && b->is_object()) {
    AgreementJson keys = *a;
    keys.update(*b);
    for (const auto& item : keys.items())
      if (place.step(item.key())) return true;
  }
  return false;
}

DISTRIBUTE_INLINE std::string shown_json(const AgreementJson& text,
                                         const AgreementJson::json_pointer& pointer) {
  if (!text.contains(pointer)) return "nothing";
  return untrusted::printable(json_text(text.at(pointer)), 200);
}

/// Returns "[3,3] in worker 0, worker 1; [5,5] in worker 2".
DISTRIBUTE_INLINE std::string who_has_what(const std::vector<std::string>& names,
                                           const std::vector<std::string>& shown) {
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (std::find(shown.begin(), shown.begin() + i, shown[i]) != shown.begin() + i) continue;
    text += str_cat(i ? "; " : "", shown[i], " in ", names[i]);
    size_t others = 0;
    for (size_t j = i + 1; j < shown.size(); ++j)
      if (shown[j] == shown[i] && ++others <= 8) text += ", " + names[j];
    if (others > 8) text += str_cat(" and ", others - 8, " more");
  }
  return text;
}

DISTRIBUTE_INLINE std::string canonical_json(const std::string& text) {
  const AgreementJson json = json_of(text);
  if (json.is_discarded())
    throw InvalidArgumentError(
        str_cat("agree: the description is not JSON: ", untrusted::printable(text, 100)));
  return json_text(json);
}

DISTRIBUTE_INLINE std::string first_difference(const std::vector<std::string>& names,
                                               const std::vector<std::string>& texts) {
  const auto other = std::find_if(texts.begin(), texts.end(),
                                  [&](const std::string& text) { return text != texts[0]; });
  if (other == texts.end()) return "";
  std::vector<AgreementJson> all;
  for (const std::string& text : texts) all.push_back(json_of(text));
  JsonPlace place{{&all[0], &all[size_t(other - texts.begin())]}};
  while (descend(place)) {
  }
  std::vector<std::string> shown;
  for (const AgreementJson& json : all) shown.push_back(shown_json(json, place.pointer));
  return str_cat(place.path.empty() ? "the description" : untrusted::printable(place.path),
                 " differs: ", who_has_what(names, shown));
}

}  // namespace distribute::cluster_internal
