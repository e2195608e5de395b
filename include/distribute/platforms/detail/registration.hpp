#pragma once
/// Registers the platforms' resolvers in every program that includes it.

#include <distribute/base/config.hpp>

namespace distribute::cluster_internal {

bool register_platforms();

inline const bool kPlatformsRegistered = register_platforms();

}  // namespace distribute::cluster_internal
