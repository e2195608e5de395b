#pragma once
/// The bodies that strategy.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/impl/one_process_bodies.hpp>
#include <distribute/impl/cluster_shared.hpp>

#include <distribute/strategy/impl/cache_variable_reads.ipp>
#include <distribute/strategy/impl/cluster_place.ipp>
#include <distribute/strategy/impl/make_strategy.ipp>
#include <distribute/strategy/impl/multi_worker_mirrored_strategy.ipp>
#include <distribute/strategy/impl/parameter_server_job.ipp>

#if DISTRIBUTE_HAS_CUDA
#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>
#endif
