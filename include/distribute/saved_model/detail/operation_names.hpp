#pragma once
/// Names of nodes and of operations in files.

#include <distribute/base/config.hpp>

#include <set>
#include <string>

namespace distribute::saved_model_internal {

/// Names that are used once each: "Relu", "Relu_1", ...; characters that TensorFlow refuses in
/// names of nodes become underscores.
class UniqueNames {
 public:
  std::string make(const std::string& wanted);

 private:
  std::set<std::string> used_;
};

/// TensorFlow's name of an operation that is the same there, a function of one or of two values;
/// empty for others.
std::string same_operation(const std::string& op);

/// ONNX's name of an operation of TensorFlow that is the same there, element by element; empty for
/// others.
std::string onnx_same_operation(const std::string& op);

}  // namespace distribute::saved_model_internal
