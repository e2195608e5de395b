#pragma once
/// The parts of merge_call: arguments of all replicas in, each replica's result out.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/meeting.hpp>
#include <distribute/replica/values.hpp>

#include <concepts>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute {

class Strategy;

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

/// A function that merge_call can run: it takes the strategy and all replicas' arguments.
template <typename Fn, typename... Args>
inline constexpr bool kIsMergeFunction =
    std::is_invocable_v<Fn&, Strategy&, const PerReplica<Args>&...>;
template <typename Fn, typename... Args>
concept MergeFunction = kIsMergeFunction<Fn, Args...>;

/// What one replica brings to a merge_call and takes from it.
template <typename Result, typename... Args>
struct MergeCall {
  std::tuple<const Args*...> args;
  std::optional<Result> result;
};

/// Argument `I` of all replicas.
template <size_t I, typename T, typename Call>
PerReplica<T> merged_argument(Meeting<Call> calls) {
  std::vector<T> values;
  calls.for_each([&](Call& call) { values.push_back(*std::get<I>(call.args)); });
  return PerReplica<T>(std::move(values));
}

}  // namespace replica_internal

}  // namespace distribute
