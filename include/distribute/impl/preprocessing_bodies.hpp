#pragma once
/// The bodies that preprocessing.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/data_shared.hpp>
#include <distribute/impl/preprocessing_src.hpp>

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
#include <distribute/device/impl/cuda_trace.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>
#include <distribute/device/impl/grouped_image.ipp>
#include <distribute/device/impl/own_convolutions.ipp>
#include <distribute/device/impl/plain_product.ipp>
#include <distribute/device/impl/prepared_values.ipp>

#include <distribute/net/impl/message.ipp>
#include <distribute/net/impl/wake_up.ipp>

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
#include <distribute/autograd/impl/trackable.ipp>
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
#include <distribute/ops/impl/search.ipp>
#include <distribute/ops/impl/segment.ipp>
#include <distribute/ops/impl/slice.ipp>
#include <distribute/ops/impl/sort.ipp>
#include <distribute/ops/impl/strided_copy.ipp>
#include <distribute/ops/impl/transpose.ipp>
#include <distribute/ops/impl/unary.ipp>

#include <distribute/replica/impl/gradient_reducer.ipp>
#include <distribute/replica/impl/nest.ipp>
#include <distribute/replica/impl/reduce_op.ipp>
#include <distribute/replica/impl/replica_context.ipp>
#include <distribute/replica/impl/single_replica.ipp>
#include <distribute/replica/impl/values.ipp>

#include <distribute/nn/impl/constraints.ipp>
#include <distribute/nn/impl/dropout.ipp>
#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/loss_parts.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_names.ipp>
#include <distribute/nn/impl/module_penalties.ipp>
#include <distribute/nn/impl/module_weights.ipp>
#include <distribute/nn/impl/noise.ipp>
#include <distribute/nn/impl/policy.ipp>
#include <distribute/nn/impl/regularizers.ipp>
#include <distribute/nn/impl/replica_calls.ipp>
#include <distribute/nn/impl/summary_table.ipp>

#include <distribute/data/impl/input_context.ipp>

#include <distribute/collective/impl/combine.ipp>
#include <distribute/collective/impl/nccl_communicator.ipp>
#include <distribute/collective/impl/nccl_library.ipp>
#include <distribute/collective/impl/operation.ipp>

#include <distribute/strategy/impl/cross_device_ops.ipp>
#include <distribute/strategy/impl/device_copies.ipp>
#include <distribute/strategy/impl/devices.ipp>
#include <distribute/strategy/impl/distributed_variable.ipp>
#include <distribute/strategy/impl/gradient_packs.ipp>
#include <distribute/strategy/impl/nccl_all_reduce.ipp>
#include <distribute/strategy/impl/one_device_strategy.ipp>
#include <distribute/strategy/impl/reduce_arguments.ipp>
#include <distribute/strategy/impl/reduction.ipp>
#include <distribute/strategy/impl/run_options.ipp>
#include <distribute/strategy/impl/run_spans.ipp>
#include <distribute/strategy/impl/scope.ipp>
#include <distribute/strategy/impl/strategy.ipp>
#include <distribute/strategy/impl/strategy_extended.ipp>
#include <distribute/strategy/impl/tensor_places.ipp>

#include <distribute/base/detail/macros_back.inc>
