#pragma once
/// Where fit takes its batches from.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint_parts.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/train/elastic_iterator.hpp>

#include <optional>
#include <utility>
#include <variant>

namespace distribute::train {

/// This worker's share of the data or, where workers may change, one order of batches for all.
/// One thread.
class FitIterator {
 public:
  explicit FitIterator(DistributedIterator iterator) : iterator_(std::move(iterator)) {}
  explicit FitIterator(ElasticIterator iterator) : iterator_(std::move(iterator)) {}

  /// As those of the iterator inside.
  std::optional<PerReplica<data::Batch>> next_if_any() {
    return std::visit([](auto& one) { return one.next_if_any(); }, iterator_);
  }
  Tensor state() const {
    return std::visit([](const auto& one) { return one.state(); }, iterator_);
  }
  void restore(const Tensor& state) {
    std::visit([&](auto& one) { one.restore(state); }, iterator_);
  }
  /// Whether each worker has a position of its own.
  bool per_worker() const { return iterator_.index() == 0; }

 private:
  std::variant<DistributedIterator, ElasticIterator> iterator_;
};

}  // namespace distribute::train
