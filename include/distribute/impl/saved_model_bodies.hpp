#pragma once
/// The bodies that saved_model.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/impl/saved_model_src.hpp>
#include <distribute/impl/tensor_shared.hpp>

#include <distribute/base/impl/log_once.ipp>
#include <distribute/base/impl/number_text.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/tensorflow_data_type.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/ops/impl/activation.ipp>
#include <distribute/ops/impl/batch_norm.ipp>
#include <distribute/ops/impl/channel_block.ipp>
#include <distribute/ops/impl/channel_norm.ipp>
#include <distribute/ops/impl/conv2d.ipp>
#include <distribute/ops/impl/conv2d_transpose.ipp>
#include <distribute/ops/impl/cross_entropy.ipp>
#include <distribute/ops/impl/gpu_batch_norm.ipp>
#include <distribute/ops/impl/gpu_batch_norm_vectors.ipp>
#include <distribute/ops/impl/layer_norm.ipp>
#include <distribute/ops/impl/norm_passes.ipp>
#include <distribute/ops/impl/norm_passes_gpu.ipp>
#include <distribute/ops/impl/pool.ipp>
#include <distribute/ops/impl/softmax.ipp>
#include <distribute/ops/impl/window.ipp>

#include <distribute/nn/impl/module_saver.ipp>

#include <distribute/strategy/impl/all_workers.ipp>
#include <distribute/strategy/impl/partitioners.ipp>
#include <distribute/strategy/impl/sharded_variable.ipp>

#include <distribute/checkpoint/impl/background_job.ipp>
#include <distribute/checkpoint/impl/bundle_entry.ipp>
#include <distribute/checkpoint/impl/bundle_merge.ipp>
#include <distribute/checkpoint/impl/bundle_reader.ipp>
#include <distribute/checkpoint/impl/bundle_table.ipp>
#include <distribute/checkpoint/impl/bundle_writer.ipp>
#include <distribute/checkpoint/impl/checkpoint.ipp>
#include <distribute/checkpoint/impl/checkpoint_manager.ipp>
#include <distribute/checkpoint/impl/checkpoint_state.ipp>
#include <distribute/checkpoint/impl/directory_lock.ipp>
#include <distribute/checkpoint/impl/flat_checkpoint.ipp>
#include <distribute/checkpoint/impl/load_status.ipp>
#include <distribute/checkpoint/impl/named_weights.ipp>
#include <distribute/checkpoint/impl/object_graph.ipp>
#include <distribute/checkpoint/impl/program_graph.ipp>
#include <distribute/checkpoint/impl/restoration.ipp>
#include <distribute/checkpoint/impl/tensor_slice.ipp>
#include <distribute/checkpoint/impl/worker_path.ipp>
