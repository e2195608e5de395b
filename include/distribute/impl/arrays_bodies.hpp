#pragma once
/// The bodies that arrays.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/arrays_src.hpp>
#include <distribute/impl/tensor_shared.hpp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>

#include <distribute/saving/impl/zip_file.ipp>
#include <distribute/saving/impl/zip_file_stub.ipp>

#include <distribute/base/detail/macros_back.inc>
