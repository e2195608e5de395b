#pragma once
/// Losses and metrics that a model is compiled with by name.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <string_view>

namespace distribute::train_internal {

/// What targets are, seen beside predictions.
enum class TargetKind { Binary, Sparse, Categorical };

/// Binary where predictions have one column, sparse where targets have one axis less or one column.
TargetKind target_kind(const Tensor& y_true, const Tensor& y_pred);

/// Whether `name` is one of the words of `names`.
bool has_name(std::string_view names, std::string_view name);

/// The first name of each row.
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
