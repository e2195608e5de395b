#pragma once
/// The bodies that all lists with data/impl/auto_shard.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/tensor_shared.hpp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/gzip.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/stream.ipp>
#include <distribute/io/impl/tfrecord.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/tensor/impl/tensorflow_data_type.ipp>

#include <distribute/data/impl/auto_shard.ipp>
#include <distribute/data/impl/autotune.ipp>
#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/batching.ipp>
#include <distribute/data/impl/bytes.ipp>
#include <distribute/data/impl/combine.ipp>
#include <distribute/data/impl/data_summary.ipp>
#include <distribute/data/impl/dataset.ipp>
#include <distribute/data/impl/distribute_options.ipp>
#include <distribute/data/impl/element_record.ipp>
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
#include <distribute/data/impl/stateful.ipp>
#include <distribute/data/impl/stateful_scan.ipp>
#include <distribute/data/impl/stream.ipp>
#include <distribute/data/impl/transform.ipp>

#include <distribute/base/detail/macros_back.inc>
