#pragma once
/// The objects of the running program as a graph of named edges, for checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute::nn {
class Module;
}
namespace distribute::optim {
class LossScaleOptimizer;
class Optimizer;
}  // namespace distribute::optim

namespace distribute::checkpoint_internal {

/// Name of the part that every checkpoint adds: the number of its saves.
inline constexpr const char* kSaveCounter = "save_counter";

/// An object, variable or state of the program. `node` below is an index into the graph's nodes.
struct ProgramNode {
  const Trackable* object = nullptr;
  Variable variable = {};
  const train::TensorState* state = nullptr;
  std::string path = {};  // from the root, names escaped; empty for the root

  struct Edge {
    std::string name;
    size_t node;
  };
  struct Slot {
    size_t original;
    std::string name;
    size_t node;
  };
  std::vector<Edge> children = {};
  std::vector<Slot> slots = {};
  // lists of an optimizer in Keras's order: written, not used for matching
  std::vector<Edge> lists = {};
  bool derived = false;  // a value that is computed from others, which files may lack

  bool has_value() const { return variable || state; }
  std::string key() const { return train::object_key(path); }
  /// Returns the key of a worker's state; that of rank 0, the chief, is key().
  std::string key_of_worker(int rank) const {
    return rank == 0 ? key() : train::object_key(path, worker_attribute(rank));
  }
  static std::string worker_attribute(int rank) { return "WORKER_" + std::to_string(rank); }
};

/// All objects reachable from the parts, each once: node 0 is the root, then breadth-first, then
/// the slot variables of optimizers. Edges have both this library's names and those of Keras, so
/// that either reads the other's files. It refers to the parts, and is valid while these and their
/// objects live.
class ProgramGraph {
 public:
  /// `keras_version`, 2 or 3, is that of the reader of the file; 0 makes a graph that matches files
  /// of both.
  /// Throws  InvalidArgumentError when an object has two parts of one name.
  explicit ProgramGraph(const train::CheckpointParts& parts, int keras_version = 0);
  ProgramGraph(const ProgramGraph&) = delete;
  ProgramGraph& operator=(const ProgramGraph&) = delete;

  const std::deque<ProgramNode>& nodes() const { return nodes_; }
  /// Returns the graph as a checkpoint of `workers` workers has it.
  train::TrackableObjectGraph to_proto(int workers = 1) const;

 private:
  size_t add(size_t parent, const std::string& name, ProgramNode node);
  void add_object(size_t parent, const std::string& name, const Trackable* object);
  void add_variable(size_t parent, const std::string& name, const Variable& variable);
  void expand(size_t node);
  void check_names(size_t node) const;
  void add_slots(size_t node);
  bool has_edge(size_t node, const std::string& name) const;
  void add_alias(size_t parent, const std::string& name, size_t node);
  void add_keras_names(size_t node);
  void add_keras_operations(size_t node, const nn::Module& module);
  void add_optimizer_of_model();
  std::vector<size_t> trained_by(size_t optimizer) const;
  size_t add_keras_list(size_t parent, const std::string& name,
                        const std::vector<size_t>& elements);
  std::vector<size_t> add_unused_momenta(size_t optimizer, const std::vector<size_t>& trained);
  size_t add_derived(size_t parent, const std::string& name, train::TensorState state);
  void add_keras_lists(size_t node);
  void add_keras_lists(size_t node, const optim::Optimizer& optimizer);
  void add_keras2_lists(size_t node, const optim::LossScaleOptimizer& scaled);
  void add_keras3_lists(size_t node, const optim::LossScaleOptimizer& scaled);

  int keras_version_;
  std::deque<ProgramNode> nodes_;
  std::unordered_map<const Trackable*, size_t> objects_;
  std::unordered_map<uint64_t, size_t> variables_;  // by id
  std::deque<train::TensorState> states_;           // of values that are computed from others
};

}  // namespace distribute::checkpoint_internal
