#pragma once
/// Types that a remote function may take and return, and their bytes in messages.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/net/message.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>
#include <distribute/tensor/tensor.hpp>

#include <memory>
#include <string>
#include <string_view>
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
  /// Passes the values to `visit`, or makes `value` from those that it fills in.
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

}  // namespace distribute
