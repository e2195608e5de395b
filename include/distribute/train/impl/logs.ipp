#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/callback.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE Logs::Logs(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}

DISTRIBUTE_INLINE void Logs::set(std::string_view name, double value) {
  for (Entry& entry : entries_)
    if (entry.first == name) {
      entry.second = value;
      return;
    }
  entries_.emplace_back(name, value);
}

DISTRIBUTE_INLINE const double* Logs::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

DISTRIBUTE_INLINE double Logs::at(std::string_view name) const {
  if (const double* value = find(name)) return *value;
  throw NotFoundError(str_cat("there is no '", name, "' in the logs; there are: ", names()));
}

DISTRIBUTE_INLINE std::string Logs::names() const {
  std::string all;
  for (const Entry& entry : entries_) all += (all.empty() ? "" : ", ") + entry.first;
  return all;
}

}  // namespace distribute::train
