#pragma once
/// Nodes of inference graphs, and of the passes from which they are made.

#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace distribute::saved_model {

using GraphAttribute = std::variant<bool, int64_t, float, std::string, DType, std::vector<int64_t>>;
using GraphAttributes = std::map<std::string, GraphAttribute>;

/// A node. Sizes that depend on the batch are -1.
struct InferenceNode {
  std::string name;         // unique, such as "conv1/Conv2D"
  std::string op;           // TensorFlow's name
  std::vector<int> inputs;  // nodes before this one
  GraphAttributes attributes = {};
  DType dtype = DType::Float32;  // floating ones are float32 whatever the policy
  std::vector<int64_t> shape = {};
  Tensor value = {};       // of a Const, in host memory
  Variable variable = {};  // the variable that holds the value, if there is one
};

/// Not an operation: the second result of its input, which is a TopKV2.
inline constexpr const char* kSecondResult = "SecondResult";

/// A graph of TensorFlow's operations, each with one result, with these exceptions: TopKV2 has two;
/// Conv2D, DepthwiseConv2dNative and MatMul may have a bias as third input; both convolutions and
/// MaxPool may have explicit paddings; numbers that TensorFlow takes as inputs (axes, shapes) are
/// attributes. Images are NHWC.
struct InferenceGraph {
  std::vector<InferenceNode> nodes;         // inputs come before their readers
  int input = 0, output = 0;                // a Placeholder, an Identity
  std::map<std::string, int> inputs = {};   // all Placeholders by their keys
  std::map<std::string, int> outputs = {};  // all Identities by their keys
  int64_t constant_bytes() const;
};

using InferenceFunction = std::function<Tensor(const Tensor&)>;
using NamedTensors = std::map<std::string, Tensor>;
using NamedOutputsFunction = std::function<NamedTensors(const Tensor&)>;
using NamedFunction = std::function<NamedTensors(const NamedTensors&)>;
/// Shapes and types of inputs by their keys.
using NamedSpecs = std::map<std::string, data::TensorSpec>;

struct TraceOptions {
  data::TensorSpec input = {};  // the first axis is the batch, whatever its size
  std::string input_name = "inputs";
  std::string output_name = "outputs";
  NamedSpecs inputs = {};  // of a NamedFunction, in place of `input`; each begins with the batch
};

}  // namespace distribute::saved_model

namespace distribute::saved_model_internal {

using Sizes = std::vector<int64_t>;

/// Name of the PassOps, behind all others, that name an output; its key is `layer`.
inline constexpr const char* kOutput = "output of the function";

/// One operation that two passes have in common; sizes that differ between them are -1. Values that
/// are not the result of an operation have the name "input", with its key as layer, "variable" or
/// "constant".
struct PassOp {
  std::string name;
  std::vector<int> inputs = {};  // -1: left out
  OpAttributes attributes = {};
  DType dtype = DType::Float32;
  std::vector<int64_t> shape = {};
  Tensor value = {};
  Variable variable = {};
  std::string layer = {};  // as TracedOp::layer
};

}  // namespace distribute::saved_model_internal
