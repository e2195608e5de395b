#pragma once
/// The result of a function on a worker.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/net/message.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>
#include <distribute/tensor/tensor.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

/// A type that can be sent: tensors, numbers, strings, batches; vectors, maps, tuples, pairs,
/// optionals and PerReplica of them; structs with `void fields(net::FieldVisitor&)`
/// (net/message.hpp).
template <typename T>
concept WireValue = net::Field<T>;

namespace coordinator_internal {

/// Throws  DataLossError.
void throw_if_damaged(const absl::Status& parsed);

template <net::Field T>
std::string to_bytes(const T& value) {
  return net::encode_message(value);
}

/// Throws  DataLossError when the bytes are not such a value's.
template <net::Field T>
T from_bytes(std::string_view bytes, const char* what = "remote value") {
  T value{};
  throw_if_damaged(net::parse_fields(bytes, what, net::FieldsRef(value)));
  return value;
}

}  // namespace coordinator_internal

namespace net {

/// Visits the values of the replicas, in their order.
template <Field T>
struct FieldsOf<PerReplica<T>> {
  /// Writing, passes the values to `visit`; reading, makes `value` of those that `visit` gives.
  static void visit(FieldVisitor& visit, PerReplica<T>& value) {
    std::vector<T> values;
    if (!visit.fills()) values = value.values();
    visit("values", values);
    if (visit.fills()) value = PerReplica<T>(std::move(values));
  }
};

/// Visits the components of a batch and their names.
template <>
struct FieldsOf<data::Batch> {
  /// Passes the components to `visit`, or fills `batch` with those that it reads.
  static void visit(FieldVisitor& visit, data::Batch& batch) {
    std::vector<Tensor> components;
    std::vector<std::string> names;
    if (!visit.fills()) components = batch.components();
    if (!visit.fills() && batch.names) names = *batch.names;
    visit("components", components);
    visit("names", names);
    if (!names.empty() && names.size() != components.size())
      return visit.refuse("has another number of names than of components");
    if (!visit.fills()) return;
    const size_t count = components.size();
    batch = data::Batch::from_components(std::move(components));
    if (batch.size() != count) return visit.refuse("has a component without elements and type");
    if (!names.empty()) batch.names = std::make_shared<const std::vector<std::string>>(names);
  }
};

}  // namespace net

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
