#pragma once
/// The bodies that saved_model.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/impl/tensor_shared.hpp>
#include <distribute/impl/saved_model_src.hpp>

#include <distribute/base/impl/cpu_share.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/data_type.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/autograd/impl/trackable.ipp>

#include <distribute/ops/impl/activation.ipp>
#include <distribute/ops/impl/batch_norm.ipp>
#include <distribute/ops/impl/channel_block.ipp>
#include <distribute/ops/impl/channel_norm.ipp>
#include <distribute/ops/impl/conv2d.ipp>
#include <distribute/ops/impl/cumulative.ipp>
#include <distribute/ops/impl/draw_log.ipp>
#include <distribute/ops/impl/einsum.ipp>
#include <distribute/ops/impl/gpu_batch_norm.ipp>
#include <distribute/ops/impl/gpu_batch_norm_vectors.ipp>
#include <distribute/ops/impl/matmul.ipp>
#include <distribute/ops/impl/norm_passes.ipp>
#include <distribute/ops/impl/norm_passes_gpu.ipp>
#include <distribute/ops/impl/pad.ipp>
#include <distribute/ops/impl/pool.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/range.ipp>
#include <distribute/ops/impl/rearrange.ipp>
#include <distribute/ops/impl/search.ipp>
#include <distribute/ops/impl/softmax.ipp>
#include <distribute/ops/impl/transpose.ipp>
#include <distribute/ops/impl/window.ipp>

#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_names.ipp>
#include <distribute/nn/impl/module_saver.ipp>
#include <distribute/nn/impl/policy.ipp>
#include <distribute/nn/impl/summary_table.ipp>

#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/element_spec.ipp>

#include <distribute/strategy/impl/all_workers.ipp>

#include <distribute/checkpoint/impl/bundle_entry.ipp>
#include <distribute/checkpoint/impl/bundle_reader.ipp>
#include <distribute/checkpoint/impl/bundle_table.ipp>
#include <distribute/checkpoint/impl/bundle_writer.ipp>
#include <distribute/checkpoint/impl/checkpoint_state.ipp>
#include <distribute/checkpoint/impl/flat_checkpoint.ipp>
#include <distribute/checkpoint/impl/tensor_slice.ipp>
#include <distribute/checkpoint/impl/worker_path.ipp>
