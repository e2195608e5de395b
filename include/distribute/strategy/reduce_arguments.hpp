#pragma once
/// The forms in which users give reductions: names of operations, axes, values, destinations.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/replica/reduce_op.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace distribute {

/// A ReduceOp or its name, "SUM" or "mean".
struct ReduceOpArgument {
  ReduceOp op;
  ReduceOpArgument(ReduceOp value) : op(value) {}
  ReduceOpArgument(const char* name) : op(reduce_op_from_string(name)) {}
  ReduceOpArgument(const std::string& name) : op(reduce_op_from_string(name)) {}
};

/// None: over replicas only; else also over these axes of each replica's tensor. Negative axes
/// count from the end.
struct ReduceAxis {
  bool given = false;
  std::vector<int> axes = {};
  ReduceAxis() = default;
  ReduceAxis(int axis) : given(true), axes{axis} {}
  ReduceAxis(std::initializer_list<int> all) : given(true), axes(all) {}
  ReduceAxis(std::vector<int> all) : given(true), axes(std::move(all)) {}
};

/// One tensor per replica, a mirrored one, or one that is not distributed.
struct ReduceValue {
  enum class Kind { PerReplica, Mirrored, Single } kind;
  std::vector<Tensor> values;
  ReduceValue(const PerReplica<Tensor>& value) : kind(Kind::PerReplica), values(value.values()) {}
  ReduceValue(const Mirrored<Tensor>& value) : kind(Kind::Mirrored), values(value.values()) {}
  ReduceValue(const Tensor& value) : kind(Kind::Single), values{value} {}
  template <Element T>
  ReduceValue(const PerReplica<T>& value) : kind(Kind::PerReplica) {
    for (const T& one : value.values()) values.emplace_back(one);
  }
};

/// Where a result goes: a device, or the devices of a value, which is not modified.
/// Throws  InvalidArgumentError when empty.
struct Destinations {
  std::vector<Device> devices;
  std::string task = {};  // of a device's name, such as "/job:worker/replica:0/task:1"
  Destinations(const char* device);
  Destinations(const std::string& device);
  Destinations(const Tensor& value);
  Destinations(const Variable& variable);
  Destinations(const PerReplica<Tensor>& value);
};

}  // namespace distribute
