#pragma once
/// The private headers of cuDNN's door, in builds that have cuDNN's own.

#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_patterns.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#endif
