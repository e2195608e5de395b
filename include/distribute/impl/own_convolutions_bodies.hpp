#pragma once
/// The bodies that own_convolutions.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/monitoring.ipp>

#include <distribute/device/impl/backend.ipp>
#include <distribute/device/impl/buffer.ipp>
#include <distribute/device/impl/cpu_direct_conv.ipp>
#include <distribute/device/impl/cpu_eigen.ipp>
#include <distribute/device/impl/cpu_onednn.ipp>
#include <distribute/device/impl/cpu_onednn_layout.ipp>
#include <distribute/device/impl/cpu_onednn_plan.ipp>
#include <distribute/device/impl/cpu_onednn_product.ipp>
#include <distribute/device/impl/cpu_onednn_stub.ipp>
#include <distribute/device/impl/cpu_winograd.ipp>
#include <distribute/device/impl/cuda_backend.ipp>
#include <distribute/device/impl/cuda_backend_stub.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_dnn_descriptor.ipp>
#include <distribute/device/impl/cuda_dnn_graph.ipp>
#include <distribute/device/impl/cuda_dnn_library.ipp>
#include <distribute/device/impl/cuda_dnn_operations.ipp>
#include <distribute/device/impl/cuda_dnn_operations_stub.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_dnn_plan.ipp>
#include <distribute/device/impl/cuda_dnn_plans.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_memory.ipp>
#include <distribute/device/impl/cuda_module.ipp>
#include <distribute/device/impl/cuda_module_stub.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/dtype.ipp>
#include <distribute/device/impl/grouped_image.ipp>
#include <distribute/device/impl/host_arena.ipp>
#include <distribute/device/impl/math_mode.ipp>
#include <distribute/device/impl/own_convolutions.ipp>
#include <distribute/device/impl/own_convolutions_stub.ipp>
#include <distribute/device/impl/prepared_values.ipp>
