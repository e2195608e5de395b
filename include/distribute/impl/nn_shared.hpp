#pragma once
/// The bodies that all lists with nn/impl/activation.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/tensor_shared.hpp>

#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/log_once.ipp>
#include <distribute/base/impl/number_text.ipp>
#include <distribute/base/impl/untrusted_json.ipp>

#include <distribute/device/impl/backend.ipp>
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
#include <distribute/device/impl/cuda_dnn_attention.ipp>
#include <distribute/device/impl/cuda_dnn_graph.ipp>
#include <distribute/device/impl/cuda_dnn_graph_descriptor.ipp>
#include <distribute/device/impl/cuda_dnn_library.ipp>
#include <distribute/device/impl/cuda_dnn_norm_passes.ipp>
#include <distribute/device/impl/cuda_dnn_operations.ipp>
#include <distribute/device/impl/cuda_dnn_operations_stub.ipp>
#include <distribute/device/impl/cuda_dnn_plan.ipp>
#include <distribute/device/impl/cuda_dnn_plans.ipp>
#include <distribute/device/impl/cuda_dnn_recurrent.ipp>
#include <distribute/device/impl/cuda_graph.ipp>
#include <distribute/device/impl/grouped_image.ipp>
#include <distribute/device/impl/own_convolutions.ipp>
#include <distribute/device/impl/plain_product.ipp>
#include <distribute/device/impl/prepared_values.ipp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/gzip.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/stream.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/tensor/impl/tensorflow_data_type.ipp>

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

#include <distribute/ops/impl/activation.ipp>
#include <distribute/ops/impl/attention.ipp>
#include <distribute/ops/impl/attention_blocks.ipp>
#include <distribute/ops/impl/attention_blocks_gpu.ipp>
#include <distribute/ops/impl/attention_products.ipp>
#include <distribute/ops/impl/batch_norm.ipp>
#include <distribute/ops/impl/broadcast.ipp>
#include <distribute/ops/impl/cast.ipp>
#include <distribute/ops/impl/channel_block.ipp>
#include <distribute/ops/impl/channel_norm.ipp>
#include <distribute/ops/impl/clip.ipp>
#include <distribute/ops/impl/concat.ipp>
#include <distribute/ops/impl/cross_entropy.ipp>
#include <distribute/ops/impl/ctc.ipp>
#include <distribute/ops/impl/ctc_decode.ipp>
#include <distribute/ops/impl/ctc_inputs.ipp>
#include <distribute/ops/impl/cumulative.ipp>
#include <distribute/ops/impl/draw_log.ipp>
#include <distribute/ops/impl/einsum.ipp>
#include <distribute/ops/impl/elementwise.ipp>
#include <distribute/ops/impl/flat_loop.ipp>
#include <distribute/ops/impl/gather.ipp>
#include <distribute/ops/impl/gpu_batch_norm.ipp>
#include <distribute/ops/impl/gpu_batch_norm_vectors.ipp>
#include <distribute/ops/impl/gpu_lines.ipp>
#include <distribute/ops/impl/gpu_loops.ipp>
#include <distribute/ops/impl/layer_norm.ipp>
#include <distribute/ops/impl/matmul.ipp>
#include <distribute/ops/impl/norm.ipp>
#include <distribute/ops/impl/norm_passes.ipp>
#include <distribute/ops/impl/norm_passes_gpu.ipp>
#include <distribute/ops/impl/pad.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/range.ipp>
#include <distribute/ops/impl/rearrange.ipp>
#include <distribute/ops/impl/recurrent.ipp>
#include <distribute/ops/impl/recurrent_cells.ipp>
#include <distribute/ops/impl/recurrent_cells_gpu.ipp>
#include <distribute/ops/impl/recurrent_cells_steps.ipp>
#include <distribute/ops/impl/reduce.ipp>
#include <distribute/ops/impl/reshape.ipp>
#include <distribute/ops/impl/search.ipp>
#include <distribute/ops/impl/segment.ipp>
#include <distribute/ops/impl/slice.ipp>
#include <distribute/ops/impl/softmax.ipp>
#include <distribute/ops/impl/sort.ipp>
#include <distribute/ops/impl/strided_copy.ipp>
#include <distribute/ops/impl/transpose.ipp>
#include <distribute/ops/impl/unary.ipp>

#include <distribute/replica/impl/gradient_reducer.ipp>
#include <distribute/replica/impl/nest.ipp>
#include <distribute/replica/impl/reduce_op.ipp>
#include <distribute/replica/impl/replica_context.ipp>
#include <distribute/replica/impl/values.ipp>

#include <distribute/nn/impl/activation.ipp>
#include <distribute/nn/impl/activation_layers.ipp>
#include <distribute/nn/impl/constraints.ipp>
#include <distribute/nn/impl/crossentropy_scores.ipp>
#include <distribute/nn/impl/dense.ipp>
#include <distribute/nn/impl/dropout.ipp>
#include <distribute/nn/impl/einsum_dense.ipp>
#include <distribute/nn/impl/embedding.ipp>
#include <distribute/nn/impl/group_normalization.ipp>
#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/lora.ipp>
#include <distribute/nn/impl/loss_parts.ipp>
#include <distribute/nn/impl/masking.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_list.ipp>
#include <distribute/nn/impl/module_names.ipp>
#include <distribute/nn/impl/module_penalties.ipp>
#include <distribute/nn/impl/module_weights.ipp>
#include <distribute/nn/impl/noise.ipp>
#include <distribute/nn/impl/normalization.ipp>
#include <distribute/nn/impl/policy.ipp>
#include <distribute/nn/impl/regularizers.ipp>
#include <distribute/nn/impl/replica_calls.ipp>
#include <distribute/nn/impl/spectral_normalization.ipp>
#include <distribute/nn/impl/summary_table.ipp>

#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/bytes.ipp>
#include <distribute/data/impl/element_spec.ipp>

#include <distribute/base/detail/macros_back.inc>
