#pragma once
/// Datasets that other processes make, as tf.data.experimental.service.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data_service/read_options.hpp>

#include <functional>
#include <string>

namespace distribute::data::service {

/// Makes a dataset; workers call it.
using DatasetFactory = std::function<Dataset()>;

/// Registers a pipeline in this program, so that its workers can make it: functions cannot be sent
/// to other programs. The name's pipeline must be the same in all workers and readers.
/// Throws  AlreadyExistsError when the name is taken; InvalidArgumentError for an empty one.
/// Source  tf.data.experimental.service.register_dataset
void register_dataset(const std::string& dataset_id, DatasetFactory factory);

/// Reads the dataset from the workers of options.service. A pass begins without a worker and waits
/// for one. With a job_name, strategies do not shard the dataset again.
/// Throws  InvalidArgumentError for bad options; DeadlineExceededError with the address when there
///         is no dispatcher; NotFoundError when no worker has registered the dataset in time
///         (options.cluster.startup_timeout). While reading: the pipeline's error, with the name of
///         the worker; FailedPreconditionError for a mode that the dataset does not allow.
/// Source  tf.data.experimental.service.from_dataset_id
Dataset from_dataset_id(const ReadOptions& options);

/// Does the same for a program that has the pipeline, `dataset.apply(distribute(options))`, and
/// checks that the workers have the same.
/// Throws  FailedPreconditionError with the first difference.
/// Source  tf.data.experimental.service.distribute
std::function<Dataset(const Dataset&)> distribute(const ReadOptions& options);

}  // namespace distribute::data::service
