#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/detail/class_names.hpp>

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <vector>

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
  const std::vector<std::string> all = absl::StrSplit(names, ' ');
  std::string text = all[0];
  for (const std::string& name : all)
    if (name.size() < all[0].size() && std::none_of(name.begin(), name.end(), absl::ascii_isupper))
      text += str_cat(" (", name, ")");
  return text;
}

}  // namespace distribute::train_internal
