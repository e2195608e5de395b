#pragma once
/// Losses and metrics that compile takes by name.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <string_view>

namespace distribute::train_internal {

/// Kind of the targets, compared with predictions.
enum class TargetKind { Binary, Sparse, Categorical };

/// Returns Binary if predictions have one column, Sparse if targets have one axis less or one
/// column.
TargetKind target_kind(const Tensor& y_true, const Tensor& y_pred);

/// Whether `name` is one of the words of `names`.
bool has_name(std::string_view names, std::string_view name);

/// Returns the first name of each row.
template <typename Rows>
std::string all_names(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    const std::string_view names = row.names;
    text += (text.empty() ? "" : ", ") + std::string(names.substr(0, names.find(' ')));
  }
  return text;
}

}  // namespace distribute::train_internal
