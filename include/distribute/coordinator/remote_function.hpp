#pragma once
/// A function that workers can run, as every process of the job has registered it by name.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace distribute {

/// A possible parameter of a remote function: a value that can be sent, or a resource of the
/// worker: data::Iterator&, DistributedIterator& (whose batches are divided among the worker's
/// replicas), const data::Dataset&.
template <typename P>
concept RemoteParameter = std::same_as<P, data::Iterator&> ||
    std::same_as<P, DistributedIterator&> || std::same_as<P, const data::Dataset&> ||
    (WireValue<std::remove_cvref_t<P>> &&
     (!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>));

template <typename R>
concept RemoteResult = std::is_void_v<R> || WireValue<R>;  // result type of a remote function

namespace coordinator_internal {

/// Holds one argument during the call.
template <typename P>
struct Received {
  explicit Received(RemoteCall& call) : value(from_bytes<std::remove_cvref_t<P>>(call.next())) {}
  std::remove_cvref_t<P> value;
  P get() { return static_cast<P>(value); }
};
template <>
struct Received<data::Iterator&> {
  explicit Received(RemoteCall& call)
      : value(call.resources.iterator(from_bytes<int64_t>(call.next()))) {}
  data::Iterator& value;
  data::Iterator& get() { return value; }
};
template <>
struct Received<DistributedIterator&> {
  explicit Received(RemoteCall& call)
      : value(call.resources.distributed_iterator(from_bytes<int64_t>(call.next()))) {}
  DistributedIterator& value;
  DistributedIterator& get() { return value; }
};
template <>
struct Received<const data::Dataset&> {
  explicit Received(RemoteCall& call)
      : value(call.resources.dataset(from_bytes<int64_t>(call.next()))) {}
  const data::Dataset& value;
  const data::Dataset& get() { return value; }
};

/// Reads the arguments, calls, and writes the result.
template <typename R, typename... Params>
std::string call_with_bytes(const std::function<R(Params...)>& fn, RemoteCall& call) {
  std::tuple<Received<Params>...> arguments{Received<Params>(call)...};  // from left to right
  if (!call.arguments.empty()) throw DataLossError("a remote call has too many arguments");
  const auto apply = [&] {
    return std::apply([&](auto&... received) { return fn(received.get()...); }, arguments);
  };
  if constexpr (std::is_void_v<R>)
    return apply(), std::string();
  else
    return to_bytes<R>(apply());
}

template <typename F>
struct SignatureOf;
template <typename R, typename... Params>
struct SignatureOf<std::function<R(Params...)>> {
  using type = R(Params...);
};

/// Whether std::function can deduce the parameters; it cannot for `auto` and overloads.
template <typename F>
concept OneSignature = requires(F fn) {
  std::function(fn);
};

}  // namespace coordinator_internal

template <typename Signature>
class RemoteFunction;

/// Registers a function: `RemoteFunction step("step", [&](data::Iterator& it) { ... return loss;
/// });` in every process, in the same order, before Server::join(). It is registered while the
/// object lives; the worker runs it on the thread that called join(). It is neither copied nor
/// moved.
template <typename R, typename... Params>
class RemoteFunction<R(Params...)> {
  static_assert(RemoteResult<R>,
                "the result of a remote function must be void or a value that can "
                "travel: tensors, numbers, strings, and vectors, tuples or maps "
                "of them");
  static_assert(
      (RemoteParameter<Params> && ...),
      "a remote function takes data::Iterator&, DistributedIterator&, const data::Dataset&, "
      "or values that can travel, by value or const reference");

 public:
  /// Throws  AlreadyExistsError for a name that is taken.
  template <typename F>
  requires std::is_invocable_r_v<R, F&, Params...> RemoteFunction(const std::string& name, F fn)
      : fn_(std::make_shared<std::function<R(Params...)>>(std::move(fn))),
        handle_(registration(name, fn_)) {}

  /// Returns the name under which it is registered in every process.
  const std::string& name() const { return handle_.name(); }
  /// Runs the function in this process, not on a worker.
  R operator()(Params... params) const { return (*fn_)(std::forward<Params>(params)...); }

 private:
  using Function = std::shared_ptr<std::function<R(Params...)>>;
  static coordinator_internal::RegistrationPtr registration(const std::string& name,
                                                            const Function& fn) {
    using coordinator_internal::RemoteCall;
    return std::make_shared<const coordinator_internal::Registration>(
        coordinator_internal::Registration{
            .kind = "function",
            .name = name,
            .signature = typeid(R(Params...)).name(),
            .run = [fn](RemoteCall& call) {
              return coordinator_internal::call_with_bytes<R, Params...>(*fn, call);
            }});
  }

  Function fn_;
  coordinator_internal::RegistrationHandle handle_;
};

template <coordinator_internal::OneSignature F>
RemoteFunction(const char*, F) -> RemoteFunction<
    typename coordinator_internal::SignatureOf<decltype(std::function(std::declval<F>()))>::type>;
template <coordinator_internal::OneSignature F>
RemoteFunction(std::string, F) -> RemoteFunction<
    typename coordinator_internal::SignatureOf<decltype(std::function(std::declval<F>()))>::type>;

}  // namespace distribute
