#pragma once
/// The values of any type that the replicas of one process bring to a meeting, and the parts of
/// merge_call().

#include <distribute/base/config.hpp>
#include <distribute/replica/values.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class Strategy;

namespace replica_internal {

/// A function that one replica calls for all of them with the address of each replica's object, in
/// replica order. Virtual functions and bodies take this form, which has no type parameter.
using MeetingLead = std::function<void(std::span<void* const>)>;

/// The objects that all local replicas have brought, in replica order. It is valid during the
/// meeting.
template <typename T>
class Meeting {
 public:
  explicit Meeting(std::span<void* const> objects) : objects_(objects) {}
  size_t size() const { return objects_.size(); }
  T& operator[](size_t replica) const { return *static_cast<T*>(objects_[replica]); }
  /// Calls fn(object) for each replica, in replica order.
  template <typename Fn>
  void for_each(Fn&& fn) const {
    for (void* object : objects_) fn(*static_cast<T*>(object));
  }

 private:
  std::span<void* const> objects_;
};

/// Turns `fn`, which takes a Meeting<T>, into a MeetingLead. The result refers to `fn`.
template <typename T, typename Fn>
auto untyped_lead(Fn& fn) {
  return [&fn](std::span<void* const> objects) { fn(Meeting<T>(objects)); };
}

/// The address of an object as a meeting takes it.
template <typename T>
void* untyped(T& object) {
  return const_cast<std::remove_const_t<T>*>(&object);
}

/// One replica's part of a value: its component of a PerReplica, or the whole of any other value.
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
/// A Mirrored value with a single copy, as reduce_to() gives for one device, is the part of every
/// replica.
template <typename T>
struct ReplicaPart<Mirrored<T>> : ReplicaPart<PerReplica<T>> {
  static decltype(auto) of(const Mirrored<T>& value, size_t replica) {
    return value[value.size() == 1 ? 0 : replica];
  }
};
template <>
struct ReplicaPart<void> {
  using type = char;  // there is no value to hand over
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

/// Gives argument `I` of all replicas.
template <size_t I, typename T, typename Call>
PerReplica<T> merged_argument(Meeting<Call> calls) {
  std::vector<T> values;
  calls.for_each([&](Call& call) { values.push_back(*std::get<I>(call.args)); });
  return PerReplica<T>(std::move(values));
}

}  // namespace replica_internal

}  // namespace distribute
