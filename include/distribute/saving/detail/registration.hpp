#pragma once
/// Lets Model::save write `.keras` files in every program that includes it.

#include <distribute/base/config.hpp>

namespace distribute::saving_internal {

bool register_keras_saver();

inline const bool kRegistered = register_keras_saver();

}  // namespace distribute::saving_internal
