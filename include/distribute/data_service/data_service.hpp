#pragma once
/// Reads datasets whose elements other processes make, as tf.data.experimental.service does.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::data::service {

/// How the workers of a data service share a dataset. docs/input_pipelines.md says for each what
/// happens to the elements of a worker that dies.
/// Source  tf.data.experimental.service.ShardingPolicy
enum class ShardingPolicy : uint8_t {
  Off,         // every worker gives all elements
  Dynamic,     // each element comes once; workers take parts of the source as they need them
  File,        // every worker reads other files
  Data,        // every worker drops what is not its share
  FileOrData,  // File where the source reads files, else Data
  Hint,        // shard(kShardHint, kShardHint) becomes the real shard
};

/// Lets trainers that run at the same time share the work of a job: workers keep elements, and each
/// trainer reads them at its own position. One that is slower than the others misses elements; the
/// first is served from what is there. For datasets without an end.
/// Source  tf.data.experimental.service.CrossTrainerCache
struct CrossTrainerCache {
  std::string trainer_id = {};  // of this trainer; readers with one id share its elements
};

/// Which workers a reader reads from. Auto is Any: a worker that stands in a trainer's process is
/// one as all others. Source  the strings of target_workers in
/// tf.data.experimental.service.distribute
enum class TargetWorkers : uint8_t {
  Auto,
  Any,    // all of the service
  Local,  // workers of this process alone; elements of other workers are not read
};

/// ClusterOptions::from_environment() with the token of DISTRIBUTE_DATA_SERVICE_TOKEN, if that is
/// set, for trainers whose job has a token of its own.
/// Throws  InvalidArgumentError for a token that can be guessed; what from_environment() throws.
ClusterOptions reader_cluster_options();

/// Holds the options of distribute() and from_dataset_id().
struct ReadOptions {
  ShardingPolicy processing_mode = ShardingPolicy::Dynamic;
  std::string service = {};     // "host:port" of the dispatcher
  std::string dataset_id = {};  // the name under which workers have registered the dataset
  /// Readers with one name share the elements of each pass, first come, first served. Empty: a job
  /// of this dataset alone.
  std::string job_name = {};
  /// Both, for one of several readers of a job that step together: reader i of n has element
  /// r n + i of a worker's task in round r, and all readers turn to the next task together. So a
  /// dataset that gives n elements of about one length in a row keeps replicas equally busy. The
  /// dataset must have no end, and the tasks are those of the workers that are there at the start.
  std::optional<int64_t> consumer_index = {}, num_consumers = {};
  /// Set in all readers of a job, or in none.
  std::optional<CrossTrainerCache> cross_trainer_cache = {};
  /// With Local the program has a WorkerServer of its own. The same in all readers of a job.
  TargetWorkers target_workers = TargetWorkers::Auto;
  /// Compresses elements on their way. Zlib is for slow networks: it costs the worker 10 to 35 ms
  /// of CPU time for a megabyte. Auto is None.
  io::Compression compression = io::Compression::Auto;
  /// Limits the number of elements that are being sent or wait here; -1 stands for 16.
  int64_t max_outstanding_requests = -1;
  ClusterOptions cluster = reader_cluster_options();  // token, encryption, deadlines
};

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
///         is not a dispatcher; NotFoundError when no worker has registered the dataset in time
///         (options.cluster.startup_timeout). While reading: the pipeline's error, with the name of
///         the worker; FailedPreconditionError for a mode that the dataset does not allow.
/// Source  tf.data.experimental.service.from_dataset_id
Dataset from_dataset_id(const ReadOptions& options);

/// Does the same for a program that has the pipeline, `dataset.apply(distribute(options))`, and
/// checks that the workers have the same.
/// Throws  FailedPreconditionError with the first difference.
/// Source  tf.data.experimental.service.distribute
std::function<Dataset(const Dataset&)> distribute(const ReadOptions& options);

/// Options of distributed_save().
struct SaveOptions {
  io::Compression compression = io::Compression::Auto;  // Auto: None; or Gzip
  /// A worker closes a chunk when it has this size, or after a minute. The work on an open chunk is
  /// done again when the worker is lost; readers see closed ones.
  int64_t chunk_bytes = int64_t{256} << 20;
  ClusterOptions cluster = reader_cluster_options();  // token, encryption, deadlines
};

/// Makes the workers of a dispatcher ("host:port") write a registered dataset into the directory
/// `path`, which they and the dispatcher share. Each element is in it once, also when workers or
/// the dispatcher are lost and come back. The file DONE appears when all of them are, ERROR with
/// the reason when a worker has failed. Dataset::load() reads it, before the end, too.
/// Returns when the dispatcher has begun.
/// Throws  AlreadyExistsError when the path exists; InvalidArgumentError for bad options, a dataset
///         without an end, or a dispatcher that is not fault tolerant; FailedPreconditionError for
///         a dataset that Dynamic cannot share, or a path whose files cannot be renamed at once;
///         DeadlineExceededError, NotFoundError as from_dataset_id().
/// Source  tf.data.experimental.distributed_save
void distributed_save(const std::string& dataset_id, const std::string& path,
                      const std::string& service, const SaveOptions& options = {});

}  // namespace distribute::data::service
