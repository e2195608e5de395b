#pragma once
/// The bodies that platforms.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/http_bodies.hpp>
#include <distribute/impl/platforms_src.hpp>

#include <distribute/base/impl/leave_notice.ipp>
#include <distribute/base/impl/ordered_json.ipp>
#include <distribute/base/impl/span_recorder.ipp>
#include <distribute/base/impl/type_names.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/device_spec.ipp>
#include <distribute/device/impl/math_mode.ipp>
#include <distribute/device/impl/memory_growth.ipp>
#include <distribute/device/impl/placement.ipp>

#include <distribute/net/impl/address.ipp>
#include <distribute/net/impl/resolve.ipp>
#include <distribute/net/impl/wake_up.ipp>

#include <distribute/cluster/impl/cluster_resolver.ipp>
#include <distribute/cluster/impl/cluster_spec.ipp>
#include <distribute/cluster/impl/default_resolver.ipp>
#include <distribute/cluster/impl/flags_cluster_resolver.ipp>
#include <distribute/cluster/impl/json_variable.ipp>
#include <distribute/cluster/impl/leader_cluster_resolver.ipp>
#include <distribute/cluster/impl/multi_worker_util.ipp>
#include <distribute/cluster/impl/open_mpi_cluster_resolver.ipp>
#include <distribute/cluster/impl/partial_environment.ipp>
#include <distribute/cluster/impl/resolver_registry.ipp>
#include <distribute/cluster/impl/sagemaker_environment.ipp>
#include <distribute/cluster/impl/tf_config_cluster_resolver.ipp>
#include <distribute/cluster/impl/torchrun_cluster_resolver.ipp>
#include <distribute/cluster/impl/union_resolver.ipp>

#include <distribute/base/detail/macros_back.inc>
