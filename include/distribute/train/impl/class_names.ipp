#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/detail/class_names.hpp>

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

}  // namespace distribute::train_internal
