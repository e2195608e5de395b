#pragma once
/// The bodies that data_service.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/cluster_shared.hpp>
#include <distribute/impl/data_service_src.hpp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>

#include <distribute/data/impl/chunked_snapshot.ipp>

#include <distribute/base/detail/macros_back.inc>
