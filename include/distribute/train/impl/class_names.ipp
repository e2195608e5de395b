#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/detail/class_names.hpp>

#include <absl/strings/ascii.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace distribute::train_internal {

DISTRIBUTE_INLINE TargetKind target_kind(const Tensor& y_true, const Tensor& y_pred) {
  const Shape y = y_true.shape(), p = y_pred.shape();
  if (p.rank() == 0 || p[-1] == 1) return TargetKind::Binary;
  if (y.rank() < p.rank() || y[-1] == 1) return TargetKind::Sparse;
  return TargetKind::Categorical;
}

DISTRIBUTE_INLINE bool has_name(std::string_view names, std::string_view name) {
  const std::string padded = str_cat(" ", names, " ");
  return !name.empty() && padded.find(str_cat(" ", name, " ")) != std::string::npos;
}

DISTRIBUTE_INLINE std::string names_to_show(std::string_view names) {
  std::istringstream words{std::string(names)};
  std::string first, name;
  words >> first;
  std::string text = first;
  while (words >> name)
    if (name.size() < first.size() && std::all_of(name.begin(), name.end(), absl::ascii_islower))
      text += str_cat(" (", name, ")");
  return text;
}

}  // namespace distribute::train_internal
