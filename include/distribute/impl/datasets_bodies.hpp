#pragma once
/// The bodies that datasets.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/data_shared.hpp>
#include <distribute/impl/datasets_src.hpp>

#include <distribute/base/impl/log_once.ipp>

#include <distribute/device/impl/backend.ipp>
#include <distribute/device/impl/cpu_direct_conv.ipp>
#include <distribute/device/impl/cpu_eigen.ipp>
#include <distribute/device/impl/cpu_onednn.ipp>
#include <distribute/device/impl/cpu_onednn_layout.ipp>
#include <distribute/device/impl/cpu_onednn_plan.ipp>
#include <distribute/device/impl/cpu_onednn_product.ipp>
#include <distribute/device/impl/cpu_onednn_stub.ipp>
#include <distribute/device/impl/cpu_winograd.ipp>
#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_backend.ipp>
#include <distribute/device/impl/cuda_backend_stub.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_attention.ipp>
#include <distribute/device/impl/cuda_dnn_graph.ipp>
#include <distribute/device/impl/cuda_dnn_graph_descriptor.ipp>
#include <distribute/device/impl/cuda_dnn_library.ipp>
#include <distribute/device/impl/cuda_dnn_norm_passes.ipp>
#include <distribute/device/impl/cuda_dnn_operations.ipp>
#include <distribute/device/impl/cuda_dnn_operations_stub.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_dnn_plan.ipp>
#include <distribute/device/impl/cuda_dnn_plans.ipp>
#include <distribute/device/impl/cuda_dnn_recurrent.ipp>
#include <distribute/device/impl/cuda_graph.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>
#include <distribute/device/impl/grouped_image.ipp>
#include <distribute/device/impl/own_convolutions.ipp>
#include <distribute/device/impl/plain_product.ipp>
#include <distribute/device/impl/prepared_values.ipp>

#include <distribute/autograd/impl/accumulate.ipp>
#include <distribute/autograd/impl/backward_walk.ipp>
#include <distribute/autograd/impl/backward_walk_jacobian.ipp>
#include <distribute/autograd/impl/gradient_placer.ipp>
#include <distribute/autograd/impl/gradient_tape.ipp>
#include <distribute/autograd/impl/lazy_product.ipp>
#include <distribute/autograd/impl/op_trace.ipp>
#include <distribute/autograd/impl/recorded_step.ipp>
#include <distribute/autograd/impl/scatter.ipp>
#include <distribute/autograd/impl/tape_state.ipp>
#include <distribute/autograd/impl/variable.ipp>

#include <distribute/ops/impl/broadcast.ipp>
#include <distribute/ops/impl/cast.ipp>
#include <distribute/ops/impl/clip.ipp>
#include <distribute/ops/impl/concat.ipp>
#include <distribute/ops/impl/cumulative.ipp>
#include <distribute/ops/impl/draw_log.ipp>
#include <distribute/ops/impl/einsum.ipp>
#include <distribute/ops/impl/elementwise.ipp>
#include <distribute/ops/impl/flat_loop.ipp>
#include <distribute/ops/impl/gather.ipp>
#include <distribute/ops/impl/gpu_lines.ipp>
#include <distribute/ops/impl/gpu_loops.ipp>
#include <distribute/ops/impl/matmul.ipp>
#include <distribute/ops/impl/norm.ipp>
#include <distribute/ops/impl/pad.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/range.ipp>
#include <distribute/ops/impl/rearrange.ipp>
#include <distribute/ops/impl/reduce.ipp>
#include <distribute/ops/impl/reshape.ipp>
#include <distribute/ops/impl/resize_spans.ipp>
#include <distribute/ops/impl/search.ipp>
#include <distribute/ops/impl/segment.ipp>
#include <distribute/ops/impl/slice.ipp>
#include <distribute/ops/impl/sort.ipp>
#include <distribute/ops/impl/strided_copy.ipp>
#include <distribute/ops/impl/transpose.ipp>
#include <distribute/ops/impl/unary.ipp>

#include <distribute/data/impl/decode_image.ipp>
#include <distribute/data/impl/file_list.ipp>
#include <distribute/data/impl/fixed_length_record.ipp>
#include <distribute/data/impl/image_adjust.ipp>
#include <distribute/data/impl/image_crop.ipp>
#include <distribute/data/impl/image_resize.ipp>
#include <distribute/data/impl/jpeg.ipp>
#include <distribute/data/impl/jpeg_stub.ipp>
#include <distribute/data/impl/png.ipp>
#include <distribute/data/impl/png_stub.ipp>
#include <distribute/data/impl/saved_dataset.ipp>
#include <distribute/data/impl/snapshot.ipp>
#include <distribute/data/impl/text_lines.ipp>
#include <distribute/data/impl/tfrecord.ipp>

#include <distribute/base/detail/macros_back.inc>
