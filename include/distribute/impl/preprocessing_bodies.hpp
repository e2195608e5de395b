#pragma once
/// The bodies that preprocessing.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/impl/tensor_shared.hpp>
#include <distribute/impl/preprocessing_src.hpp>

#include <distribute/base/impl/cancellation.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/net/impl/bytes.ipp>

#include <distribute/autograd/impl/trackable.ipp>

#include <distribute/ops/impl/draw_log.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/range.ipp>
#include <distribute/ops/impl/rearrange.ipp>
#include <distribute/ops/impl/search.ipp>

#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_names.ipp>
#include <distribute/nn/impl/policy.ipp>
#include <distribute/nn/impl/replica_calls.ipp>
#include <distribute/nn/impl/summary_table.ipp>

#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/batching.ipp>
#include <distribute/data/impl/combine.ipp>
#include <distribute/data/impl/dataset.ipp>
#include <distribute/data/impl/distribute_options.ipp>
#include <distribute/data/impl/element_spec.ipp>
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

#include <distribute/strategy/impl/chief_texts.ipp>
