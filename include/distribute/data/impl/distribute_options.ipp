#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/distribute_options.hpp>

#include <algorithm>
#include <numeric>

namespace distribute::data {

DISTRIBUTE_INLINE std::vector<int64_t> batch_sizes_for_worker(int64_t global_batch_size,
                                                              int64_t num_workers,
                                                              int64_t num_replicas_per_worker,
                                                              int64_t worker_index) {
  if (global_batch_size < 1 || num_workers < 1 || num_replicas_per_worker < 1 || worker_index < 0 ||
      worker_index >= num_workers)
    throw InvalidArgumentError(str_cat("batch_sizes_for_worker: batch ", global_batch_size, ", ",
                                       num_workers, " workers of ", num_replicas_per_worker,
                                       " replicas, worker ", worker_index));
  const int64_t pieces = num_workers * num_replicas_per_worker;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < pieces; ++i)
    sizes.push_back(global_batch_size / pieces + (i < global_batch_size % pieces));
  std::rotate(sizes.begin(), sizes.begin() + worker_index * num_replicas_per_worker, sizes.end());
  return sizes;
}

DISTRIBUTE_INLINE Batch rows_of_replica(const Batch& batch, int64_t replica, int64_t num_replicas) {
  const auto sizes = batch_sizes_for_worker(batch_size(batch), 1, num_replicas, 0);
  if (replica < 0 || replica >= num_replicas)
    throw InvalidArgumentError(
        str_cat("rows_of_replica: there is no replica ", replica, " of ", num_replicas));
  const auto own = sizes.begin() + replica;
  const int64_t begin = std::accumulate(sizes.begin(), own, int64_t{0});
  return rows(batch, begin, begin + *own);
}

}  // namespace distribute::data
