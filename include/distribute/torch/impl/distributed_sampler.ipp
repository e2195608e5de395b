#pragma once
#include <distribute/base/error.hpp>
#include <distribute/torch/distributed_sampler.hpp>
#include <distribute/torch/process_group.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>

namespace distribute::torch {

DISTRIBUTE_INLINE DistributedSampler::DistributedSampler(size_t size,
                                                         const DistributedSamplerOptions& options)
    : size_(int64_t(size)),
      options_(options),
      ranks_(options.num_replicas ? *options.num_replicas : get_world_size()),
      rank_(options.rank ? *options.rank : get_rank()) {
  if (ranks_ < 1 || rank_ < 0 || rank_ >= ranks_)
    throw InvalidArgumentError(
        str_cat("DistributedSampler: rank ", rank_, " is not one of ", ranks_, " replicas"));
  reset();
}

DISTRIBUTE_INLINE void DistributedSampler::count_examples() {
  if (size_ < 1) throw InvalidArgumentError("DistributedSampler: the dataset has no example");
  examples_ = options_.drop_last ? size_ / ranks_ : (size_ + ranks_ - 1) / ranks_;
}

DISTRIBUTE_INLINE void DistributedSampler::order() {
  std::vector<int64_t> all(size_t(size_), 0);
  if (options_.shuffle) {
    const auto generator = ::at::detail::createCPUGenerator(options_.seed + epoch_);
    const auto permutation = ::torch::randperm(size_, generator);
    std::copy_n(permutation.data_ptr<int64_t>(), size_, all.begin());
  } else {
    std::iota(all.begin(), all.end(), int64_t(0));
  }
  mine_.clear();
  for (int64_t i = 0; i < examples_; ++i)
    mine_.push_back(all[size_t((i * ranks_ + rank_) % size_)]);
}

DISTRIBUTE_INLINE void DistributedSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = int64_t(*new_size);
  count_examples();
  mine_.clear();
  next_ = 0;
}

DISTRIBUTE_INLINE std::optional<std::vector<size_t>> DistributedSampler::next(size_t batch_size) {
  if (next_ == 0) order();
  const size_t end = std::min(mine_.size(), next_ + batch_size);
  if (end == next_) return std::nullopt;
  std::vector<size_t> batch(mine_.begin() + std::ptrdiff_t(next_),
                            mine_.begin() + std::ptrdiff_t(end));
  next_ = end;
  return batch;
}

DISTRIBUTE_INLINE void DistributedSampler::save(::torch::serialize::OutputArchive& archive) const {
  const auto number = [](int64_t value) { return ::torch::tensor({value}, ::torch::kInt64); };
  archive.write("epoch", number(int64_t(epoch_)), /*is_buffer=*/true);
  archive.write("next", number(int64_t(next_)), /*is_buffer=*/true);
}

DISTRIBUTE_INLINE void DistributedSampler::load(::torch::serialize::InputArchive& archive) {
  ::torch::Tensor epoch, next;
  archive.read("epoch", epoch, /*is_buffer=*/true);
  archive.read("next", next, /*is_buffer=*/true);
  const int64_t position = next.item<int64_t>();
  if (position < 0 || position > examples_)
    throw InvalidArgumentError(str_cat("DistributedSampler: the saved position ", position,
                                       " is not within the ", examples_, " examples of a rank"));
  epoch_ = uint64_t(epoch.item<int64_t>());
  order();
  next_ = size_t(position);
}

}  // namespace distribute::torch
