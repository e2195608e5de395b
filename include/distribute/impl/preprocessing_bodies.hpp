#pragma once
/// The bodies that preprocessing.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/preprocessing_src.hpp>
#include <distribute/impl/tensor_shared.hpp>

#include <distribute/base/impl/cancellation.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_trace.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/net/impl/message.ipp>

#include <distribute/io/impl/atomic_file.ipp>
#include <distribute/io/impl/crc32c.ipp>

#include <distribute/replica/impl/single_replica.ipp>

#include <distribute/data/impl/auto_shard.ipp>
#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/batching.ipp>
#include <distribute/data/impl/bytes.ipp>
#include <distribute/data/impl/combine.ipp>
#include <distribute/data/impl/data_summary.ipp>
#include <distribute/data/impl/dataset.ipp>
#include <distribute/data/impl/distribute_options.ipp>
#include <distribute/data/impl/element_spec.ipp>
#include <distribute/data/impl/input_context.ipp>
#include <distribute/data/impl/interleave.ipp>
#include <distribute/data/impl/iterator.ipp>
#include <distribute/data/impl/node.ipp>
#include <distribute/data/impl/options.ipp>
#include <distribute/data/impl/padding.ipp>
#include <distribute/data/impl/parallel_interleave.ipp>
#include <distribute/data/impl/pipeline_statistics.ipp>
#include <distribute/data/impl/prefetch.ipp>
#include <distribute/data/impl/random.ipp>
#include <distribute/data/impl/rebatch.ipp>
#include <distribute/data/impl/row_table.ipp>
#include <distribute/data/impl/selection.ipp>
#include <distribute/data/impl/shuffle.ipp>
#include <distribute/data/impl/sources.ipp>
#include <distribute/data/impl/stream.ipp>
#include <distribute/data/impl/transform.ipp>

#include <distribute/collective/impl/nccl_communicator.ipp>
#include <distribute/collective/impl/nccl_library.ipp>
#include <distribute/collective/impl/operation.ipp>

#include <distribute/strategy/impl/chief_texts.ipp>
#include <distribute/strategy/impl/cross_device_ops.ipp>
#include <distribute/strategy/impl/current_strategy.ipp>
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
