#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/bundle_writer.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/checkpoint/program_graph.hpp>
#include <distribute/checkpoint/restoration.hpp>
#include <distribute/io/path.hpp>
#include <distribute/replica/replica_context.hpp>

#include <map>
#include <set>

namespace distribute::checkpoint_internal {

/// The other replicas would go on writing while this one reads.
DISTRIBUTE_INLINE void check_outside_replicas(const char* method) {
  const auto& modes = replica_internal::mode_stack();
  if (modes.empty() || !modes.back().replica) return;
  throw FailedPreconditionError(
      concat("Checkpoint.", method, " was called in a replica; call it outside strategy.run"));
}

/// Throws  InvalidArgumentError for a name used twice and for an empty handle or null pointer.
DISTRIBUTE_INLINE void check_parts(const train::CheckpointParts& parts) {
  std::set<std::string> names;
  for (const auto& [name, part] : parts) {
    if (name.empty()) throw InvalidArgumentError("Checkpoint: a part has an empty name");
    if (!names.insert(name).second)
      throw InvalidArgumentError("Checkpoint: two parts are called '" + name + "'");
    const auto* object = std::get_if<const Trackable*>(&part);
    const auto* variable = std::get_if<Variable>(&part);
    if ((object && !*object) || (variable && !*variable))
      throw InvalidArgumentError("Checkpoint: part '" + name + "' is none");
  }
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE Checkpoint::Checkpoint(Parts parts)
    : parts_(std::move(parts)),
      save_counter_(std::make_shared<PlainVariable>(
          Tensor(int64_t{0}),
          VariableOptions{.name = checkpoint_internal::kSaveCounter, .trainable = false})) {
  parts_.emplace_back(checkpoint_internal::kSaveCounter, save_counter_);
  checkpoint_internal::check_parts(parts_);
}

DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model, const Trackable& optimizer)
    : Checkpoint(Parts{{"model", &model}, {"optimizer", &optimizer}}) {}
DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model)
    : Checkpoint(Parts{{"model", &model}}) {}

DISTRIBUTE_INLINE std::string Checkpoint::write(const std::string& prefix) const {
  checkpoint_internal::check_outside_replicas("write");
  const checkpoint_internal::ProgramGraph program(parts_);
  std::map<std::string, const checkpoint_internal::ProgramNode*> tensors;  // in key order
  tensors.emplace(kObjectGraphKey, nullptr);
  for (const auto& node : program.nodes())
    if (node.has_value()) tensors.emplace(node.key(), &node);
  BundleWriter writer(prefix);
  for (const auto& [key, node] : tensors) {
    if (!node)
      writer.add_string(key, encode_object_graph(program.to_proto()));
    else
      write_tensor(writer, key,
                   node->variable ? value_to_save(node->variable) : node->state->save());
  }
  writer.finish();
  return prefix;
}

DISTRIBUTE_INLINE std::string Checkpoint::save(const std::string& prefix) {
  checkpoint_internal::check_outside_replicas("save");
  const int64_t before = save_counter();
  set_save_counter(before + 1);
  try {
    const std::string path = write(concat(prefix, "-", before + 1));
    CheckpointState state;
    state.model_checkpoint_path = path;
    state.all_model_checkpoint_paths = {path};
    const std::string directory = io::directory_of(path);
    update_checkpoint_state(directory.empty() ? "." : directory, state);
    return path;
  } catch (...) {
    set_save_counter(before);
    throw;
  }
}

DISTRIBUTE_INLINE LoadStatus Checkpoint::restore(const std::string& prefix) const {
  checkpoint_internal::check_outside_replicas("restore");
  auto restoration = std::make_shared<checkpoint_internal::Restoration>(prefix);
  try {
    restoration->run(checkpoint_internal::ProgramGraph(parts_));
  } catch (...) {
    restoration->set_quiet();
    throw;
  }
  return LoadStatus(std::move(restoration), parts_);
}

DISTRIBUTE_INLINE int64_t Checkpoint::save_counter() const {
  return save_counter_.impl().read().item<int64_t>();
}
DISTRIBUTE_INLINE void Checkpoint::set_save_counter(int64_t count) {
  save_counter_.assign(Tensor(count));
}

}  // namespace distribute::train
