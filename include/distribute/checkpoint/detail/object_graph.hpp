#pragma once
/// The object graph inside a checkpoint: which tensor belongs to which attribute of which object.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// Key of the string scalar that holds the graph.
inline constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// An edge to another object, with the name that the parent has for it.
struct ObjectReference {
  int32_t node_id = 0;
  std::string local_name;
  bool operator==(const ObjectReference&) const = default;
};

/// One stored tensor of an object.
struct SerializedTensor {
  std::string name;            // of the attribute; "VARIABLE_VALUE" for a variable
  std::string full_name;       // of the variable, without ":0"; name-based loading goes by it
  std::string checkpoint_key;  // in the checkpoint
  bool optional_restore = false;
  bool operator==(const SerializedTensor&) const = default;
};

/// The variable an optimizer keeps for another variable, such as its momentum.
struct SlotVariableReference {
  int32_t original_variable_node_id = 0;
  std::string slot_name;
  int32_t slot_variable_node_id = 0;
  bool operator==(const SlotVariableReference&) const = default;
};

/// A saver that an object registered with TensorFlow; it is preserved and never used.
struct RegisteredSaver {
  std::string name;
  std::string object_name;
  bool operator==(const RegisteredSaver&) const = default;
};

struct TrackableObject {  // a node of the object graph
  std::vector<ObjectReference> children;
  std::vector<SerializedTensor> attributes;
  std::vector<SlotVariableReference> slot_variables;
  std::optional<RegisteredSaver> registered_saver;
  std::optional<bool> has_checkpoint_values;
  bool operator==(const TrackableObject&) const = default;
};

/// All objects: node 0 is the root; ids are in breadth-first order, slot variables last.
/// Source  tensorflow/core/protobuf/trackable_object_graph.proto
struct TrackableObjectGraph {
  std::vector<TrackableObject> nodes;
  bool operator==(const TrackableObjectGraph&) const = default;
};
/// Returns the bytes of the graph, as a checkpoint holds them.
std::string encode_object_graph(const TrackableObjectGraph& graph);

/// Parses a graph; `where` is for messages.
/// Throws  DataLossError when the bytes are malformed or name nodes that do not exist.
TrackableObjectGraph decode_object_graph(std::string_view bytes, const std::string& where);

/// Escapes a name as one step of a path: "." becomes "..", "/" becomes ".S".
std::string escape_local_name(std::string_view name);

/// Returns "<path>/.ATTRIBUTES/<attribute>"; the path joins escaped names by slashes, "" is the
/// root.
std::string object_key(std::string_view path, std::string_view attribute = "VARIABLE_VALUE");

/// Returns "<variable path>/.OPTIMIZER_SLOT/<optimizer path>/<slot>", the path of a slot variable.
std::string slot_path(std::string_view variable_path, std::string_view optimizer_path,
                      std::string_view slot_name);

}  // namespace distribute::train
