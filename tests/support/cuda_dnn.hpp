#pragma once
/// The private headers of device/cuda_dnn*, in builds that have cuDNN.

#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_patterns.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#endif
