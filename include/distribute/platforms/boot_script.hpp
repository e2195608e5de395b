#pragma once
/// A script that starts the tasks of whichever host of a cluster it runs on.

#include <distribute/cluster/cluster_spec.hpp>

#include <string>

namespace distribute {

/// For sh: `sh boot.sh PROGRAM ARGUMENTS`, the same file on every host. It finds the host by its
/// names and addresses (or --host NAME), sets TF_CONFIG, refuses to start without the job's token,
/// and runs several tasks of a host side by side.
std::string boot_script(const ClusterSpec& cluster);

}  // namespace distribute
