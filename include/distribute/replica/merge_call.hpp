#pragma once
/// The typed form of merging replicas: arguments of all replicas in, each replica's result out.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/values.hpp>

#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace distribute {

namespace replica_internal {

/// One replica's part of a value: of a PerReplica its own, of anything else the whole.
template <typename T>
struct ReplicaPart {
  static constexpr bool kDistributed = false;
  using type = T;
  static const T& of(const T& value, size_t) { return value; }
};
template <typename T>
struct ReplicaPart<PerReplica<T>> {
  static constexpr bool kDistributed = true;
  using type = T;
  static decltype(auto) of(const PerReplica<T>& value, size_t replica) { return value[replica]; }
};
template <typename T>
struct ReplicaPart<Mirrored<T>> : ReplicaPart<PerReplica<T>> {};
template <>
struct ReplicaPart<void> {
  using type = char;  // nothing to hand over
};

/// What one replica brings to a merge_call and takes from it.
template <typename Result, typename... Args>
struct MergeCall {
  std::tuple<const Args*...> args;
  std::optional<Result> result;
};

/// Argument `I` of all replicas.
template <size_t I, typename T, typename Call>
PerReplica<T> merged_argument(std::span<void* const> calls) {
  std::vector<T> values;
  for (void* call : calls) values.push_back(*std::get<I>(static_cast<const Call*>(call)->args));
  return PerReplica<T>(std::move(values));
}

}  // namespace replica_internal

template <typename Fn, typename... Args>
requires std::invocable < Fn&, Strategy&, const PerReplica<Args>
&... > auto ReplicaContext::merge_call(Fn&& fn, const Args&... args) {
  using Whole = std::decay_t<std::invoke_result_t<Fn&, Strategy&, const PerReplica<Args>&...>>;
  using Part = replica_internal::ReplicaPart<Whole>;
  using Call = replica_internal::MergeCall<typename Part::type, Args...>;
  const auto invoke = [&]<size_t... I>([[maybe_unused]] std::span<void* const> calls,
                                       std::index_sequence<I...>) {
    return fn(strategy(), replica_internal::merged_argument<I, Args, Call>(calls)...);
  };
  Call mine{{&args...}, {}};
  merge(
      [&](std::span<void* const> calls) {
        constexpr auto kIndices = std::index_sequence_for<Args...>();
        if constexpr (std::is_void_v<Whole>) {
          invoke(calls, kIndices);
        } else {
          const Whole whole = invoke(calls, kIndices);
          for (size_t r = 0; r < calls.size(); ++r)
            static_cast<Call*>(calls[r])->result.emplace(Part::of(whole, r));
        }
      },
      &mine);
  if constexpr (!std::is_void_v<Whole>) return *std::move(mine.result);
}

}  // namespace distribute
