#pragma once
#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/bundle_writer.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/checkpoint/object_graph.hpp>
#include <distribute/io/path.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

namespace distribute::train {

namespace program_graph {

/// One object of the program, as a node of the graph that is saved.
struct ProgramNode {
  const Trackable* object = nullptr;
  Variable variable;
  const TensorState* state = nullptr;
  std::string path;  // escaped, from the root
  std::vector<std::pair<std::string, size_t>> children;
  std::vector<std::tuple<size_t, std::string, size_t>> slots;  // original, name, variable
};

/// All objects reachable from the parts, breadth first, each once.
class ProgramGraph {
 public:
  explicit ProgramGraph(const Checkpoint::Parts& parts) {
    nodes_.push_back({});
    for (const auto& [name, part] : parts) {
      if (const auto* object = std::get_if<const Trackable*>(&part))
        add(0, name, *object);
      else if (const auto* variable = std::get_if<Variable>(&part))
        add(0, name, *variable);
      else
        add_state(name, std::get<TensorState>(part));
    }
    for (size_t i = 1; i < nodes_.size(); ++i) expand(i);
    for (size_t i = 1, count = nodes_.size(); i < count; ++i) add_slots(i);
  }
  const std::deque<ProgramNode>& nodes() const { return nodes_; }

 private:
  static std::string join(const std::string& path, const std::string& name) {
    return path + (path.empty() ? "" : "/") + escape_local_name(name);
  }
  void add(size_t parent, const std::string& name, const Trackable* object) {
    const auto [known, is_new] = objects_.try_emplace(object, nodes_.size());
    if (is_new) nodes_.push_back({object, {}, nullptr, join(nodes_[parent].path, name), {}, {}});
    nodes_[parent].children.emplace_back(name, known->second);
  }
  void add(size_t parent, const std::string& name, const Variable& variable) {
    const auto [known, is_new] = variables_.try_emplace(variable.impl().id(), nodes_.size());
    if (is_new)
      nodes_.push_back({nullptr, variable, nullptr, join(nodes_[parent].path, name), {}, {}});
    nodes_[parent].children.emplace_back(name, known->second);
  }
  void add_state(const std::string& name, const TensorState& state) {
    nodes_[0].children.emplace_back(name, nodes_.size());
    nodes_.push_back({nullptr, {}, &state, escape_local_name(name), {}, {}});
  }
  void expand(size_t i) {
    const Trackable* object = nodes_[i].object;
    if (!object) return;
    for (const auto& child : object->children()) add(i, child.name, child.object);
    for (const auto& own : object->own_variables()) add(i, own.name, own.variable);
  }
  void add_slots(size_t i) {
    const Trackable* object = nodes_[i].object;
    if (!object) return;
    for (const auto& slot : object->slot_variables()) {
      const auto original = variables_.find(slot.original.impl().id());
      if (original == variables_.end()) continue;  // the variable itself is not saved
      nodes_[i].slots.emplace_back(original->second, slot.slot_name, nodes_.size());
      const std::string& path = nodes_[original->second].path;
      nodes_.push_back({nullptr,
                        slot.variable,
                        nullptr,
                        slot_path(path, nodes_[i].path, slot.slot_name),
                        {},
                        {}});
    }
  }

  std::deque<ProgramNode> nodes_;
  std::unordered_map<const Trackable*, size_t> objects_;
  std::unordered_map<uint64_t, size_t> variables_;
};

DISTRIBUTE_INLINE TrackableObject to_proto(const ProgramNode& node) {
  TrackableObject object;
  for (const auto& [name, child] : node.children) object.children.push_back({int32_t(child), name});
  for (const auto& [original, name, slot] : node.slots)
    object.slot_variables.push_back({int32_t(original), name, int32_t(slot)});
  if (node.variable || node.state) {
    const std::string full_name = node.variable ? node.variable.name() : node.path;
    object.attributes.push_back({"VARIABLE_VALUE", full_name, object_key(node.path), false});
  }
  object.has_checkpoint_values = true;
  return object;
}

}  // namespace program_graph

/// One file being restored: which of its nodes belong to which objects, and what is left over.
struct LoadStatus::State {
  explicit State(const std::string& prefix) : reader(prefix) {}
  ~State() {
    if (quiet) return;
    for (const auto& [key, used] : keys)
      if (!used) {
        std::fprintf(stderr,
                     "warning: checkpoint %s: value '%s' was not used; expect_partial() says that "
                     "this is intended\n",
                     reader.prefix().c_str(), key.c_str());
        return;
      }
  }

  BundleReader reader;
  TrackableObjectGraph graph;
  std::map<std::string, bool> keys;  // of the file -> a variable took it
  std::unordered_map<const Trackable*, int32_t> objects;
  std::unordered_map<uint64_t, int32_t> variables;
  std::vector<std::string> missing;  // variables of the program without a value
  size_t matched = 0;
  bool quiet = false;

  const TrackableObject* node(int32_t id) const {
    return id < 0 ? nullptr : &graph.nodes[size_t(id)];
  }
  int32_t child(int32_t id, const std::string& name) const {
    if (const TrackableObject* parent = node(id))
      for (const auto& edge : parent->children)
        if (edge.local_name == name) return edge.node_id;
    return -1;
  }
  int32_t slot(int32_t optimizer, int32_t original, const std::string& name) const {
    if (const TrackableObject* parent = node(optimizer))
      for (const auto& edge : parent->slot_variables)
        if (edge.original_variable_node_id == original && edge.slot_name == name)
          return edge.slot_variable_node_id;
    return -1;
  }
  /// The key of a node's value, or nothing.
  const std::string* key_of(int32_t id) const {
    const TrackableObject* found = node(id);
    return found && !found->attributes.empty() ? &found->attributes[0].checkpoint_key : nullptr;
  }
  Tensor take(const std::string& key) {
    keys[key] = true;
    ++matched;
    return read_tensor(reader, key);
  }
  std::optional<Tensor> deferred(const Trackable& owner, const std::string& name,
                                 const Variable& original);
};

DISTRIBUTE_INLINE std::optional<Tensor> LoadStatus::State::deferred(const Trackable& owner,
                                                                    const std::string& name,
                                                                    const Variable& original) {
  const auto found = objects.find(&owner);
  if (found == objects.end()) return std::nullopt;
  int32_t id = child(found->second, name);
  if (original) {
    const auto target = variables.find(original.impl().id());
    id = target == variables.end() ? -1 : slot(found->second, target->second, name);
  }
  const std::string* key = key_of(id);
  if (!key) return std::nullopt;
  return take(*key);
}

namespace program_graph {

/// Matches program and file node by node along the names of edges, then assigns.
class Restoration {
 public:
  Restoration(std::shared_ptr<LoadStatus::State> state, const ProgramGraph& program)
      : state_(std::move(state)), program_(program), file_ids_(program.nodes().size(), -1) {}

  void run() {
    match();
    for (size_t i = 0; i < file_ids_.size(); ++i) {
      const ProgramNode& node = program_.nodes()[i];
      if (node.variable) plan(node, i);
      if (node.object) defer(*node.object, file_ids_[i]);
    }
    for (auto& [node, value] : values_) {
      if (node->variable)
        restore_value(node->variable, value);
      else
        node->state->restore(value);
    }
  }

 private:
  void match() {
    file_ids_[0] = 0;
    for (size_t i = 0; i < file_ids_.size(); ++i) {
      const ProgramNode& node = program_.nodes()[i];
      for (const auto& [name, child] : node.children)
        if (file_ids_[child] < 0) file_ids_[child] = state_->child(file_ids_[i], name);
    }
    for (size_t i = 0; i < file_ids_.size(); ++i)
      for (const auto& [original, name, slot] : program_.nodes()[i].slots)
        file_ids_[slot] = state_->slot(file_ids_[i], file_ids_[original], name);
    for (size_t i = 0; i < file_ids_.size(); ++i)
      if (program_.nodes()[i].state) plan(program_.nodes()[i], i);
  }

  void plan(const ProgramNode& node, size_t i) {
    const std::string* key = state_->key_of(file_ids_[i]);
    if (!key) {
      state_->missing.push_back(node.path);
      return;
    }
    const Tensor value = state_->take(*key);
    if (node.variable) {
      check_fits(node.variable, value, state_->reader.prefix(), *key);
      state_->variables[node.variable.impl().id()] = file_ids_[i];
    }
    values_.emplace_back(&node, value);
  }

  void defer(const Trackable& object, int32_t file_id) {
    if (file_id < 0) return;
    state_->objects[&object] = file_id;
    object.set_restorer([state = state_](const Trackable& owner, const std::string& name,
                                         const Variable& original) {
      return state->deferred(owner, name, original);
    });
  }

  std::shared_ptr<LoadStatus::State> state_;
  const ProgramGraph& program_;
  std::vector<int32_t> file_ids_;
  std::vector<std::pair<const ProgramNode*, Tensor>> values_;
};

/// A file without graph: variables by name.
DISTRIBUTE_INLINE void restore_by_name(LoadStatus::State& state, const ProgramGraph& program) {
  std::vector<std::pair<Variable, Tensor>> values;
  for (const ProgramNode& node : program.nodes()) {
    if (!node.variable) continue;
    const std::string& name = node.variable.name();
    if (!state.reader.contains(name)) {
      state.missing.push_back(node.path);
      continue;
    }
    values.emplace_back(node.variable, state.take(name));
    check_fits(node.variable, values.back().second, state.reader.prefix(), name);
  }
  for (const auto& [variable, value] : values) restore_value(variable, value);
}

}  // namespace program_graph

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_existing_objects_matched() const {
  state_->quiet = true;
  if (!state_->missing.empty())
    throw FailedPreconditionError(concat("checkpoint ", state_->reader.prefix(),
                                         " has no value for '", state_->missing.front(), "' (and ",
                                         state_->missing.size() - 1, " more)"));
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_consumed() const {
  assert_existing_objects_matched();
  for (const auto& [key, used] : state_->keys)
    if (!used)
      throw FailedPreconditionError(concat("checkpoint ", state_->reader.prefix(), ": value '", key,
                                           "' belongs to no object of the program"));
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_nontrivial_match() const {
  if (state_->matched == 0)
    throw FailedPreconditionError(
        concat("nothing in checkpoint ", state_->reader.prefix(), " matches the program"));
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::expect_partial() const {
  state_->quiet = true;
  return *this;
}

DISTRIBUTE_INLINE Checkpoint::Checkpoint(Parts parts)
    : parts_(std::move(parts)),
      save_counter_(std::make_shared<PlainVariable>(
          Tensor(int64_t{0}), VariableOptions{.name = "save_counter", .trainable = false})) {
  parts_.emplace_back("save_counter", save_counter_);
  std::set<std::string> names;
  for (const auto& [name, part] : parts_)
    if (!names.insert(name).second)
      throw InvalidArgumentError("Checkpoint: two parts are called '" + name + "'");
}

DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model, const Trackable& optimizer)
    : Checkpoint(Parts{{"model", &model}, {"optimizer", &optimizer}}) {}
DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model)
    : Checkpoint(Parts{{"model", &model}}) {}

DISTRIBUTE_INLINE std::string Checkpoint::write(const std::string& prefix) const {
  const program_graph::ProgramGraph program(parts_);
  TrackableObjectGraph graph;
  std::map<std::string, const program_graph::ProgramNode*> tensors;  // in key order
  for (const auto& node : program.nodes()) {
    graph.nodes.push_back(program_graph::to_proto(node));
    if (node.variable || node.state) tensors.emplace(object_key(node.path), &node);
  }
  BundleWriter writer(prefix);
  writer.add_string(kObjectGraphKey, encode_object_graph(graph));
  for (const auto& [key, node] : tensors)
    write_tensor(writer, key, node->variable ? value_to_save(node->variable) : node->state->save());
  writer.finish();
  return prefix;
}

DISTRIBUTE_INLINE std::string Checkpoint::save(const std::string& prefix) {
  set_save_counter(save_counter() + 1);
  const std::string path = write(concat(prefix, "-", save_counter()));
  CheckpointState state;
  state.model_checkpoint_path = path;
  state.all_model_checkpoint_paths = {path};
  const std::string directory = io::directory_of(path);
  update_checkpoint_state(directory.empty() ? "." : directory, state);
  return path;
}

DISTRIBUTE_INLINE LoadStatus Checkpoint::restore(const std::string& prefix) const {
  auto state = std::make_shared<LoadStatus::State>(prefix);
  const program_graph::ProgramGraph program(parts_);
  for (const std::string& key : state->reader.keys())
    if (key != kObjectGraphKey) state->keys.emplace(key, false);
  if (state->reader.contains(kObjectGraphKey)) {
    state->graph = decode_object_graph(state->reader.read_string(kObjectGraphKey), prefix);
    program_graph::Restoration(state, program).run();
  } else {
    program_graph::restore_by_name(*state, program);
  }
  return LoadStatus(state);
}

DISTRIBUTE_INLINE int64_t Checkpoint::save_counter() const {
  return save_counter_.impl().read().item<int64_t>();
}
DISTRIBUTE_INLINE void Checkpoint::set_save_counter(int64_t count) {
  save_counter_.assign(Tensor(count));
}

}  // namespace distribute::train
