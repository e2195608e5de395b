#pragma once
/// Values of several replicas, and how they are reduced to one.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

/// Says how the values of all replicas become one. Source  tf.distribute.ReduceOp
enum class ReduceOp { Sum, Mean, SUM = Sum, MEAN = Mean };

/// Accepts "SUM" and "MEAN" in any case.
/// Throws  InvalidArgumentError for anything else.
ReduceOp reduce_op_from_string(std::string_view name);

/// Throws  InvalidArgumentError for None and OnlyFirstReplica.
ReduceOp reduce_op_from_aggregation(VariableAggregation aggregation);

namespace replica_internal {
/// Throws  InvalidArgumentError unless replica < size.
void check_component(size_t replica, size_t size);
}  // namespace replica_internal

/// A value for each local replica, in replica order; they may differ.
/// Source  tf.distribute.DistributedValues (PerReplica)
template <typename T>
class PerReplica {
 public:
  using value_type = T;
  PerReplica() = default;
  explicit PerReplica(std::vector<T> values) : values_(std::move(values)) {}
  const std::vector<T>& values() const& { return values_; }
  std::vector<T> values() && { return std::move(values_); }  // for (x : strategy.run(fn).values())
  size_t size() const { return values_.size(); }
  /// Throws  InvalidArgumentError when the value has no component for this replica.
  typename std::vector<T>::const_reference operator[](size_t replica) const {
    replica_internal::check_component(replica, values_.size());
    return values_[replica];
  }
  /// Applies `fn` to each replica's value; `fn` may be the address of a member, which selects that
  /// member.
  /// Source  tf.nest.map_structure over a PerReplica
  template <std::invocable<const T&> Fn>
  auto map(Fn&& fn) const {
    using Result = std::decay_t<std::invoke_result_t<Fn&, const T&>>;
    std::vector<Result> results;
    for (const auto& value : values_) results.push_back(std::invoke(fn, value));
    return PerReplica<Result>(std::move(results));
  }

 private:
  std::vector<T> values_;
};

/// A value that is the same on every replica.
template <typename T>
class Mirrored : public PerReplica<T> {
 public:
  using PerReplica<T>::PerReplica;
  /// The value that all replicas have.
  operator const T&() const { return (*this)[0]; }
};

}  // namespace distribute
