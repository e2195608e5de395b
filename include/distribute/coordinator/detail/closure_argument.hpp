#pragma once
/// Converts an argument of schedule() to the form that is sent to the worker.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>

namespace distribute::coordinator_internal {

/// Throws  InvalidArgumentError
[[noreturn]] void refuse_remote_value(const std::string& function);

template <typename A>
inline constexpr bool kIsRemoteValue = false;
template <typename T>
inline constexpr bool kIsRemoteValue<RemoteValue<T>> = true;

template <typename A>
inline constexpr bool kIsPerWorker = false;
template <typename T>
inline constexpr bool kIsPerWorker<PerWorkerValues<T>> = true;

/// Waits for values that the coordinator holds, so that no worker's thread has to.
template <typename T>
ClosureArgument per_worker_argument(const PerWorkerValues<T>& values) {
  ClosureArgument argument;
  argument.resource = values.resource();
  for (const RemoteValue<T>& value : values.values()) {
    const RemoteStatePtr& state = RemoteValueAccess::state(value);
    if (!argument.resource) state->bytes();
    argument.per_worker.push_back(state);
  }
  return argument;
}

/// Converts `A` for a parameter of type `Param` of the function with this name.
template <typename Param, typename A>
ClosureArgument closure_argument(const std::string& function, const A& value) {
  using Value = std::remove_cvref_t<Param>;
  if constexpr (kIsRemoteValue<A>) {
    refuse_remote_value(function);
  } else if constexpr (std::derived_from<A, PerWorkerDataset> &&
                       std::same_as<Value, data::Iterator>) {
    return per_worker_argument(value.own_iterator());
  } else if constexpr (std::derived_from<A, PerWorkerDataset> &&
                       std::same_as<Value, DistributedIterator>) {
    return per_worker_argument(value.own_distributed_iterator());
  } else if constexpr (std::derived_from<A, PerWorkerDataset>) {
    static_assert(
        std::same_as<Value, data::Dataset>,
        "schedule: a per-worker dataset goes to a data::Iterator& or const data::Dataset&");
    return per_worker_argument(static_cast<const PerWorkerValues<data::Dataset>&>(value));
  } else if constexpr (kIsPerWorker<A>) {
    static_assert(std::same_as<Value, typename A::value_type>,
                  "schedule: the per-worker values have another type than the parameter");
    return per_worker_argument(value);
  } else {
    static_assert(std::convertible_to<const A&, Value>,
                  "schedule: an argument cannot become what the remote function takes");
    const Value converted(value);
    return {.bytes = std::make_shared<const std::string>(to_bytes<Value>(converted))};
  }
}

}  // namespace distribute::coordinator_internal
