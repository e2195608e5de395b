#pragma once
/// One value per local replica.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <utility>
#include <vector>

namespace distribute {

/// A value for each local replica, in replica order; they may differ.
/// Source  tf.distribute.DistributedValues (PerReplica)
template <typename T>
class PerReplica {
 public:
  using value_type = T;
  PerReplica() = default;
  explicit PerReplica(std::vector<T> values) : values_(std::move(values)) {}
  const std::vector<T>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  typename std::vector<T>::const_reference operator[](size_t replica) const {
    return values_.at(replica);
  }

 private:
  std::vector<T> values_;
};

/// A value that is the same on every replica.
template <typename T>
class Mirrored : public PerReplica<T> {
 public:
  using PerReplica<T>::PerReplica;
};

}  // namespace distribute
