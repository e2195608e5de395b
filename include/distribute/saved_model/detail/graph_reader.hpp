#pragma once
/// Decodes graphs and functions of TensorFlow.

#include <distribute/base/config.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/detail/graph_value.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::saved_model_internal {

/// An AttrValue: the fields that are present.
struct NodeAttribute {
  std::string text = {};  // also the name of a function
  int64_t integer = 0;
  float real = 0;
  bool truth = false;
  io::DataType type = io::DataType::Invalid;
  std::vector<int64_t> sizes = {};  // of a shape
  bool unknown_rank = false;
  std::string_view tensor = {};  // encoded
  std::vector<int64_t> integers = {};
};

/// One result of a node.
struct NodeOutput {
  int node = 0, output = 0;
};

struct RunNode {
  std::string name, op;
  std::vector<NodeOutput> inputs = {};
  std::vector<int> controls = {};  // nodes that must run before
  std::map<std::string, NodeAttribute> attributes = {};
  GraphValue constant = {};  // of a Const
};

/// A graph, or the body of a function, whose arguments are its first nodes, of operation "_Arg".
struct RunGraph {
  std::vector<RunNode> nodes;
  std::map<std::string, int> places;  // by name
  int arguments = 0;
  std::vector<NodeOutput> results;  // of a function
  std::vector<int> controls;        // nodes that a call of the function runs as well
};

struct RunLibrary {
  RunGraph graph;
  std::map<std::string, RunGraph> functions;
};

/// Calls `take` with each field of a message. Errors call the file `name`.
/// Throws  DataLossError for damaged bytes.
void read_fields(std::string_view message, const std::string& name,
                 const std::function<void(const io::ProtoField&)>& take);

/// Decodes a TensorShapeProto.
std::vector<int64_t> decode_shape(std::string_view message, const std::string& name,
                                  bool& unknown_rank);

/// Reads the functions of a GraphDef. Views of attributes point into `bytes`. Errors call the file
/// `name`.
/// Throws  DataLossError for damaged bytes and for missing inputs.
RunLibrary decode_graph_def(std::string_view bytes, const std::string& name);

/// Parses "node", "node:1".
/// Throws  NotFoundError for a node that the graph does not have.
NodeOutput output_named(const RunGraph& graph, const std::string& text, const std::string& name);

/// Decodes a TensorProto: a tensor or strings.
/// Throws  DataLossError for damaged bytes; UnimplementedError for other element types.
GraphValue decode_tensor(std::string_view proto, const std::string& name);

/// Returns the dtype of this library.
/// Throws  UnimplementedError for types that tensors cannot have.
DType tensor_dtype(io::DataType type, const std::string& where);

}  // namespace distribute::saved_model_internal
