#pragma once
/// What tasks call the connections over which they look at the network between them.

namespace distribute::cluster_internal {

inline constexpr const char* kCheckPurpose = "doctor";

}  // namespace distribute::cluster_internal
