#pragma once
/// `distribute doctor`: whether this task can take part in its job, and what limits the job.

#include <distribute/cluster/flags_cluster_resolver.hpp>

namespace distribute_tools {

struct DoctorOptions {
  distribute::ClusterFlags cluster = {};  // instead of TF_CONFIG
  double timeout = 30;                    // seconds for the other tasks to appear
  bool json = false;
  bool require_gpu = false;  // without a GPU or one of its libraries the job cannot run
};

/// Looks at host, libraries, GPUs and the cluster of the environment, and where there are several
/// tasks, at the network between them: it must then run as every task. Prints what it found.
/// Returns  0, or 1 when something keeps the job from running.
int doctor_command(const DoctorOptions& options);

}  // namespace distribute_tools
