#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/checkpoint/detail/restoration.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/optim/serialization.hpp>

#include <queue>
#include <utility>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE Restoration::Restoration(const std::string& prefix, int rank, int workers)
    : rank_(rank),
      workers_(workers),
      reader_(prefix),
      has_graph_(reader_.contains(train::kObjectGraphKey)) {
  for (const std::string& key : reader_.keys())
    if (key != train::kObjectGraphKey) unused_.insert(key);
  if (has_graph_)
    graph_ = train::decode_object_graph(reader_.read_string(train::kObjectGraphKey), prefix);
  if (has_graph_ && graph_.nodes.empty())
    throw DataLossError(str_cat("checkpoint ", prefix, ": the object graph has no root"));
}

/// Returns "'a', 'b', 'c' and 5 more", without the common ending of all keys.
DISTRIBUTE_INLINE std::string shortened_list(const std::set<std::string>& keys) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t named = 0;
  for (const std::string& key : keys) {
    if (named == kMost) break;
    text += str_cat(named++ ? ", '" : "'", key.substr(0, key.find("/.ATTRIBUTES/")), "'");
  }
  return keys.size() == named ? text : str_cat(text, " and ", keys.size() - named, " more");
}

DISTRIBUTE_INLINE Restoration::~Restoration() {
  for (const auto& [optimizer, slots] : waiting_)
    for (const std::string& key : slots) unused_.erase(key);
  if (quiet_ || unused_.empty()) return;
  log_warning("checkpoint",
              str_cat("checkpoint ", reader_.prefix(), ": no object took ", shortened_list(unused_),
                      "; expect_partial() says that this is intended"));
}

DISTRIBUTE_INLINE const train::TrackableObject* Restoration::node(int32_t id) const {
  return id < 0 || size_t(id) >= graph_.nodes.size() ? nullptr : &graph_.nodes[size_t(id)];
}

DISTRIBUTE_INLINE int32_t Restoration::child(int32_t parent, const std::string& name) const {
  const train::TrackableObject* object = node(parent);
  if (!object) return -1;
  // Keras has "_kernel" and "_iterations"; optimizers of TensorFlow 2.10 and before have "iter".
  for (const std::string& known : {name, "_" + name, std::string("iter")})
    for (const auto& edge : object->children)
      if (edge.local_name == known && (known != "iter" || name == "iterations"))
        return edge.node_id;
  const int32_t keras2 = keras2_loss_scale(parent, name);
  if (keras2 >= 0) return keras2;
  // Averages are called after their variables, whose names in older files begin behind the model's.
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return -1;
  for (const auto& edge : object->children)
    if (name.compare(slash + 1, std::string::npos, edge.local_name) == 0) return edge.node_id;
  return -1;
}

/// Keras 2 has the parts of an optimizer that scales the loss and those of the wrapped one in one
/// object, with one more for the scale.
DISTRIBUTE_INLINE int32_t Restoration::keras2_loss_scale(int32_t parent,
                                                         const std::string& name) const {
  const bool steps = name == "step_counter";
  if (!steps && name != "dynamic_scale" && name != "inner_optimizer") return -1;
  for (const auto& edge : node(parent)->children) {
    if (edge.local_name != "loss_scale") continue;
    if (name == "inner_optimizer") return parent;
    return child(edge.node_id, steps ? "good_steps" : "current_loss_scale");
  }
  return -1;
}

DISTRIBUTE_INLINE int32_t Restoration::slot(int32_t optimizer, int32_t original,
                                            const std::string& name) const {
  const train::TrackableObject* object = original < 0 ? nullptr : node(optimizer);
  if (object)
    for (const auto& edge : object->slot_variables)
      if (edge.original_variable_node_id == original && edge.slot_name == name)
        return edge.slot_variable_node_id;
  return object ? keras_slot(optimizer, original, name) : -1;
}

/// Keras 3 lists the weights of an optimizer, and in the same order the slots of each kind.
DISTRIBUTE_INLINE int32_t Restoration::keras_slot(int32_t optimizer, int32_t original,
                                                  const std::string& name) const {
  const train::TrackableObject* weights = node(child(optimizer, "_trainable_variables"));
  if (!weights) return -1;
  for (const auto& weight : weights->children) {
    if (weight.node_id != original) continue;
    for (const char* of_class : {"", "SGD", "Adamax"})
      for (const auto& group : optim::keras_slots(of_class, {name}))
        if (const int32_t list = child(optimizer, group[0].attribute);
            list >= 0 && !group[0].attribute.empty())
          return child(list, weight.local_name);
  }
  return -1;
}

DISTRIBUTE_INLINE const std::string* Restoration::key_of(const ProgramNode& wanted,
                                                         int32_t file_node) const {
  if (!wanted.has_value()) return nullptr;
  if (!has_graph_) {
    if (!wanted.variable) return nullptr;
    const auto& entries = reader_.entries();
    const std::string& name = wanted.variable.name();
    auto found = entries.find(name);
    // Names in older files begin behind the model's.
    if (found == entries.end()) found = entries.find(name.substr(name.find('/') + 1));
    return found == entries.end() ? nullptr : &found->first;
  }
  const train::TrackableObject* object = node(file_node);
  if (!object) return nullptr;
  if (wanted.state && wanted.state->per_worker) return state_key(wanted, *object);
  for (const auto& attribute : object->attributes)
    if (attribute.name == "VARIABLE_VALUE") return &attribute.checkpoint_key;
  return nullptr;
}

/// Returns this worker's own key, if the file was saved by the same number of workers.
DISTRIBUTE_INLINE const std::string* Restoration::state_key(
    const ProgramNode& wanted, const train::TrackableObject& saved) const {
  if (int(saved.attributes.size()) != workers_) return nullptr;
  const std::string name = rank_ == 0 ? "VARIABLE_VALUE" : wanted.worker_attribute(rank_);
  for (const auto& attribute : saved.attributes)
    if (attribute.name == name) return &attribute.checkpoint_key;
  return nullptr;
}

DISTRIBUTE_INLINE std::vector<int32_t> Restoration::match(const ProgramGraph& program) const {
  const auto& nodes = program.nodes();
  std::vector<int32_t> found(nodes.size(), -1);
  if (!has_graph_) return found;
  std::queue<size_t> open;
  found[0] = 0;
  for (open.push(0); !open.empty(); open.pop()) {
    const size_t parent = open.front();
    for (const auto& edge : nodes[parent].children) {
      if (found[edge.node] >= 0) continue;
      found[edge.node] = child(found[parent], edge.name);
      if (found[edge.node] >= 0) open.push(edge.node);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) match_trained(program, i, found);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const auto& edge : nodes[i].slots)
      found[edge.node] = slot(found[i], found[edge.original], edge.name);
  for (size_t i = 0; i < nodes.size(); ++i) match_slots_by_order(program, i, found);
  return found;
}

/// Since TensorFlow 2.11 optimizers of Keras 2 list slots without the weights to which they belong.
DISTRIBUTE_INLINE void Restoration::match_slots_by_order(const ProgramGraph& program,
                                                         size_t optimizer,
                                                         std::vector<int32_t>& found) const {
  if (child(found[optimizer], "_trainable_variables") >= 0) return;
  for (const auto& list : program.nodes()[optimizer].lists) {
    int32_t saved = child(found[optimizer], list.name);
    if (saved < 0)  // Lion's "momentums"
      saved = child(found[optimizer], list.name.substr(1));
    const auto& slots = program.nodes()[list.node].children;
    if (saved < 0 || list.name == "_variables" || node(saved)->children.size() != slots.size())
      continue;
    for (const auto& slot : slots)
      if (found[slot.node] < 0) found[slot.node] = child(saved, slot.name);
  }
}

/// Keras 3 leaves layers in lists out of a file except for the optimizer's list of weights. That
/// list is used if the weights that have names are at the same positions as here.
DISTRIBUTE_INLINE void Restoration::match_trained(const ProgramGraph& program, size_t optimizer,
                                                  std::vector<int32_t>& found) const {
  const auto& nodes = program.nodes();
  for (const auto& list : nodes[optimizer].lists) {
    const auto* saved = node(child(found[optimizer], list.name));
    const auto& weights = nodes[list.node].children;
    if (list.name != "_trainable_variables" || !saved || saved->children.size() != weights.size())
      continue;
    std::vector<int32_t> places;
    for (const auto& weight : weights) {
      places.push_back(child(int32_t(saved - graph_.nodes.data()), weight.name));
      const int32_t known = found[weight.node];
      if (known >= 0 && known != places.back()) return;
    }
    for (size_t i = 0; i < weights.size(); ++i) found[weights[i].node] = places[i];
  }
}

DISTRIBUTE_INLINE void Restoration::remember(const Variable& variable, int32_t file_node) {
  variables_[variable.impl().id()] = file_node;
  for (const Variable& part : variable.impl().parts()) variables_[part.impl().id()] = file_node;
}

/// Warns of a state that the file has for another number of workers.
DISTRIBUTE_INLINE void warn_of_workers(const std::string& prefix, const std::string& path,
                                       size_t saved, int workers) {
  log_warning("checkpoint", str_cat("checkpoint ", prefix, ": '", path, "' was saved by ", saved,
                                    " workers and is not restored on ", workers,
                                    ": input starts from the beginning"));
}

DISTRIBUTE_INLINE void Restoration::read(const ProgramGraph& program) {
  const std::lock_guard lock(mutex_);
  const std::vector<int32_t> file_nodes = match(program);
  std::vector<std::pair<const train::TensorState*, Tensor>> states;
  std::vector<std::pair<size_t, std::string>> taken;
  for (size_t i = 0; i < file_nodes.size(); ++i) {
    const ProgramNode& target = program.nodes()[i];
    if (target.object) pending_.objects.emplace_back(target.object, file_nodes[i]);
    note_waiting_slots(target, file_nodes[i]);
    const std::string* key = key_of(target, file_nodes[i]);
    if (!key) {
      const auto* saved = target.state && rank_ == 0 ? node(file_nodes[i]) : nullptr;
      if (saved) warn_of_workers(reader_.prefix(), target.path, saved->attributes.size(), workers_);
      continue;
    }
    if (target.state) {
      states.emplace_back(target.state, train::read_tensor(reader_, *key));
    } else if (train::is_cut(target.variable)) {
      train::check_shards(reader_, *key, target.variable);
      pending_.cut.emplace_back(target.variable, *key);
    } else {
      pending_.values.emplace_back(target.variable,
                                   train::read_value(reader_, *key, target.variable));
    }
    taken.emplace_back(i, *key);
  }
  for (const auto& [state, value] : states) state->restore(value);
  for (const auto& [i, key] : taken) take(program.nodes()[i], file_nodes[i], key);
  reader_.close_files();
}

DISTRIBUTE_INLINE void Restoration::note_waiting_slots(const ProgramNode& target,
                                                       int32_t file_node) {
  const train::TrackableObject* saved = node(file_node);
  if (!target.object || target.object->built() || !saved) return;
  for (const auto& slot : saved->slot_variables)
    for (const auto& attribute : graph_.nodes[size_t(slot.slot_variable_node_id)].attributes)
      waiting_[file_node].insert(attribute.checkpoint_key);
}

/// The states of other workers are theirs to use.
DISTRIBUTE_INLINE void Restoration::take(const ProgramNode& target, int32_t file_node,
                                         const std::string& key) {
  matched_ += target.path != kSaveCounter;
  unused_.erase(key);
  if (target.variable) remember(target.variable, file_node);
  if (!target.state || !node(file_node)) return;
  for (const auto& attribute : node(file_node)->attributes) unused_.erase(attribute.checkpoint_key);
}

DISTRIBUTE_INLINE void Restoration::assign() {
  const std::lock_guard lock(mutex_);
  for (const auto& [variable, value] : pending_.values) train::restore_value(variable, value);
  for (const auto& [variable, key] : pending_.cut) train::restore_shards(reader_, key, variable);
  reader_.close_files();
  leave_restorers();
  pending_ = {};
}

/// Replaces the restorers of an earlier restore, also if this one has no values for them.
DISTRIBUTE_INLINE void Restoration::leave_restorers() {
  for (const auto& [object, file_node] : pending_.objects) {
    const bool waits = !unused_.empty() && (!has_graph_ || file_node >= 0);
    object->set_restorer(waits ? std::make_shared<NodeRestorer>(shared_from_this(), file_node)
                               : nullptr);
  }
}

DISTRIBUTE_INLINE void Restoration::created(int32_t parent, const std::string& name,
                                            const Variable& variable, const Variable& original) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (original) waiting_.erase(parent);
  int32_t file_node = original ? -1 : child(parent, name);
  if (original) {
    const auto known = variables_.find(original.impl().id());
    if (known != variables_.end()) file_node = slot(parent, known->second, name);
  }
  ProgramNode target;
  target.variable = variable;
  const std::string* key = key_of(target, file_node);
  if (!key) return;
  if (train::is_cut(variable)) {
    train::check_shards(reader_, *key, variable);
    train::restore_shards(reader_, *key, variable);
  } else {
    train::restore_value(variable, train::read_value(reader_, *key, variable));
  }
  reader_.close_files();
  remember(variable, file_node);
  unused_.erase(*key);
  ++matched_;
}

DISTRIBUTE_INLINE void Restoration::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

DISTRIBUTE_INLINE bool Restoration::waits() const {
  const std::lock_guard lock(mutex_);
  return !unused_.empty();
}

DISTRIBUTE_INLINE bool Restoration::was_taken(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return !unused_.contains(key);
}

DISTRIBUTE_INLINE const std::string* Restoration::unused() const {
  const std::lock_guard lock(mutex_);
  return unused_.empty() ? nullptr : &*unused_.begin();
}

DISTRIBUTE_INLINE bool Restoration::has_matches() const {
  const std::lock_guard lock(mutex_);
  return matched_ > 0;
}

DISTRIBUTE_INLINE std::shared_ptr<Trackable::Restorer> NodeRestorer::part(const std::string& name) {
  const int32_t node = node_ < 0 ? -1 : restoration_->child(node_, name);
  // In a file without graph (node -1) variables are found by their full names, wherever they are.
  if (!restoration_->waits() || (node_ >= 0 && node < 0)) return nullptr;
  return std::make_shared<NodeRestorer>(restoration_, node);
}

}  // namespace distribute::checkpoint_internal
