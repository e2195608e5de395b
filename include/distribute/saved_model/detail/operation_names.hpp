#pragma once
/// Names of nodes and of operations in files.

#include <distribute/base/config.hpp>

#include <set>
#include <string>

namespace distribute::saved_model_internal {

/// Returns each name once: "Relu", "Relu_1", ...; characters that TensorFlow refuses in names of
/// nodes become underscores.
class UniqueNames {
 public:
  std::string make(const std::string& wanted);

 private:
  std::set<std::string> used_;
};

/// Returns TensorFlow's name of a function of one or two values that is the same there; empty for
/// others.
std::string same_operation(const std::string& op);

/// Returns ONNX's name of an elementwise operation of TensorFlow that is the same there; empty for
/// others.
std::string onnx_same_operation(const std::string& op);

}  // namespace distribute::saved_model_internal
