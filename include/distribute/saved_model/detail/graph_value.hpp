#pragma once
/// Values that nodes of a running graph pass to each other.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::saved_model_internal {

/// A variable of a loaded graph.
struct GraphVariable {
  std::string name;
  Tensor value = {};
};

/// A tensor, or one of the values that only some operations take.
struct GraphValue {
  GraphValue() = default;
  GraphValue(Tensor value) : tensor(std::move(value)) {}  // for most operations

  Tensor tensor;
  std::vector<std::string> texts = {};                  // a tensor of strings
  std::shared_ptr<GraphVariable> variable = nullptr;    // a resource
  std::shared_ptr<std::vector<Tensor>> list = nullptr;  // a TensorList; never changed in place
};

}  // namespace distribute::saved_model_internal
