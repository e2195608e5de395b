#pragma once
/// All bodies of the annex platforms.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/platforms/impl/boot_script.ipp>
#include <distribute/platforms/impl/gce_cluster_resolver.ipp>
#include <distribute/platforms/impl/job_paths.ipp>
#include <distribute/platforms/impl/kubernetes_cluster_resolver.ipp>
#include <distribute/platforms/impl/make_cluster.ipp>
#include <distribute/platforms/impl/preemption_notice.ipp>
#include <distribute/platforms/impl/registration.ipp>
#include <distribute/platforms/impl/sagemaker_cluster_resolver.ipp>
#include <distribute/platforms/impl/slurm_cluster_resolver.ipp>
#include <distribute/platforms/impl/slurm_hostlist.ipp>
#include <distribute/platforms/impl/vertex_cluster_resolver.ipp>

#include <distribute/base/detail/macros_back.inc>
