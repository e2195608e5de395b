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

/// Returns the first of the names, with short ones behind it: "mean_squared_error (mse)".
std::string names_to_show(std::string_view names);

/// Returns names_to_show() of each row.
template <typename Rows>
std::string all_names(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += (text.empty() ? "" : ", ") + names_to_show(row.names);
  }
  return text;
}

}  // namespace distribute::train_internal
