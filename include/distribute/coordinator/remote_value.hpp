#pragma once
/// The result of a function on a worker.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/wire_value.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace distribute {

/// State of a result. Source  tf.distribute.experimental.coordinator.RemoteValueStatus
enum class RemoteValueStatus { NotReady, Ready, Aborted };

namespace coordinator_internal {

/// The coordinator's copy of one remote value: its bytes, or the error. Thread-safe.
class RemoteState {
 public:
  void set_bytes(std::string bytes);
  void set_error(std::exception_ptr error);
  /// Marks a value as missing when it was on a worker that is lost; it may be made again.
  void reset() { become(RemoteValueStatus::NotReady, {}, nullptr); }

  RemoteValueStatus status() const;
  /// Returns the bytes.
  /// Blocks  until they have come.
  /// Throws  the error.
  std::shared_ptr<const std::string> bytes() const;

 private:
  void become(RemoteValueStatus status, std::shared_ptr<const std::string> bytes,
              std::exception_ptr error);

  mutable std::mutex mutex_;  // guards all members
  mutable std::condition_variable changed_;
  RemoteValueStatus status_ = RemoteValueStatus::NotReady;
  std::shared_ptr<const std::string> bytes_;
  std::exception_ptr error_;
};

using RemoteStatePtr = std::shared_ptr<RemoteState>;

/// Access to the state inside a RemoteValue.
struct RemoteValueAccess {
  template <typename Value>
  static const RemoteStatePtr& state(const Value& value) {
    return value.state_;
  }
};

}  // namespace coordinator_internal

/// A handle to the future result of a scheduled function; copies share it. The result is copied to
/// the coordinator as part of the function, so that it outlives the worker. Thread-safe.
/// Source  tf.distribute.experimental.coordinator.RemoteValue
template <typename T>
class RemoteValue {
 public:
  using value_type = T;
  explicit RemoteValue(coordinator_internal::RemoteStatePtr state) : state_(std::move(state)) {}

  /// Blocks  until the function has run.
  /// Throws  what the function threw; CancelledError when it was cancelled before it ran.
  T fetch() const {
    static_assert(std::is_void_v<T> || WireValue<T>, "this value stays on its worker");
    const auto bytes = state_->bytes();
    if constexpr (!std::is_void_v<T>) return coordinator_internal::from_bytes<T>(*bytes);
  }
  /// Returns the value as fetch(): a fetched tensor is a tensor.
  T get() const { return fetch(); }
  /// Returns Ready when the result has come, Aborted after an error. Does not wait.
  RemoteValueStatus status() const { return state_->status(); }

 private:
  friend coordinator_internal::RemoteValueAccess;
  coordinator_internal::RemoteStatePtr state_;
};

}  // namespace distribute
