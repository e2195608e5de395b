#pragma once
/// Registers the object stores' schemes in every program that includes it.

#include <distribute/base/config.hpp>

namespace distribute::io_internal {

bool register_object_stores();

inline const bool kObjectStoresRegistered = register_object_stores();

}  // namespace distribute::io_internal
