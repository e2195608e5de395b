#pragma once
/// The bodies that language_models.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/data_shared.hpp>
#include <distribute/impl/language_models_src.hpp>
#include <distribute/impl/nn_shared.hpp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/ops/impl/map_fn.ipp>
#include <distribute/ops/impl/recompute_grad.ipp>

#include <distribute/saving/impl/weight_layouts.ipp>
#include <distribute/saving/impl/weight_names.ipp>

#include <distribute/base/detail/macros_back.inc>
