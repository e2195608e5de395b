#pragma once
/// Lets Model::save write SavedModels in every program that includes it.

#include <distribute/base/config.hpp>

namespace distribute::saved_model_internal {

bool register_saved_model();

inline const bool kRegistered = register_saved_model();

}  // namespace distribute::saved_model_internal
