#pragma once
/// Purposes of the connections with which tasks check the network between them.

namespace distribute::cluster_internal {

inline constexpr const char* kCheckPurpose = "doctor";

}  // namespace distribute::cluster_internal
