#pragma once
/// The annex platforms.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/platforms/detail/registration.hpp>
#include <distribute/platforms/gce_cluster_resolver.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/platforms/kubernetes_cluster_resolver.hpp>
#include <distribute/platforms/make_cluster.hpp>
#include <distribute/platforms/preemption_notice.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>
#include <distribute/platforms/vertex_cluster_resolver.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/platforms_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
