#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/background_job.hpp>
#include <distribute/checkpoint/detail/checkpoint_metrics.hpp>
#include <distribute/checkpoint/detail/program_graph.hpp>
#include <distribute/checkpoint/detail/restoration.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace distribute::checkpoint_internal {

/// Refuses calls in replicas, as the other replicas would continue to write while this one reads.
DISTRIBUTE_INLINE void check_outside_replicas(const char* method) {
  const auto& modes = replica_internal::mode_stack();
  if (modes.empty() || !modes.back().replica) return;
  throw FailedPreconditionError(
      str_cat("Checkpoint.", method, " was called in a replica; call it outside strategy.run"));
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

/// Some rows of a variable that is cut.
struct SavedShard {
  Tensor rows;
  SaveSliceInfo info;
};

/// The values of a checkpoint, in the order of their keys; the graph is a text. A variable that is
/// cut is read shard by shard while it is written, as the whole may be too large for memory.
using ValuesToSave =
    std::map<std::string, std::variant<std::string, Tensor, Variable, std::vector<SavedShard>>>;

/// Returns the text that workers compare before they read variables together.
DISTRIBUTE_INLINE std::string describe_graph(const ProgramGraph& program) {
  std::map<std::string, Shape> shapes;
  for (const auto& node : program.nodes())
    if (node.has_value()) shapes[node.key()] = node.variable ? node.variable.shape() : Shape{};
  uint64_t hash = cluster_internal::fnv1a("");
  for (const auto& [key, shape] : shapes)
    hash = cluster_internal::fnv1a(key + to_string(shape), hash);
  return str_cat(shapes.size(), " values with checksum ", hash);
}

DISTRIBUTE_INLINE void check_same_graphs(const std::vector<std::string>& descriptions) {
  for (size_t rank = 1; rank < descriptions.size(); ++rank)
    if (descriptions[rank] != descriptions[0])
      throw FailedPreconditionError(
          str_cat("the workers do not save the same objects: rank 0 has ", descriptions[0],
                  ", rank ", rank, " has ", descriptions[rank],
                  "; every worker must make the same variables and parts of the checkpoint"));
}

/// Adds the states of the program; those that each worker has for itself are added for all workers.
DISTRIBUTE_INLINE void add_states(ValuesToSave& values, const ProgramGraph& program,
                                  const std::vector<Tensor>& mine, StrategyExtended& extended) {
  if (mine.empty()) return;
  const auto all = extended.all_gather_tensors(mine);
  size_t i = 0;
  for (const auto& node : program.nodes()) {
    if (!node.state) continue;
    const size_t ranks = node.state->per_worker ? all.size() : 1;
    for (size_t rank = 0; rank < ranks; ++rank)
      values[node.key_of_worker(int(rank))] = all[rank][i];
    ++i;
  }
}

/// Whether the object or one of its parts has its variables.
DISTRIBUTE_INLINE bool is_built(const Trackable& object) {
  return object.built() || std::ranges::any_of(object.children(), [](const auto& child) {
           return is_built(*child.object);
         });
}

/// Checks that variables exist in this process; those that do not exist yet, or only on other
/// tasks, would be missing in the checkpoint.
/// Source  keras.Model.save_weights, which warns
/// Throws  FailedPreconditionError if workers have the variables, as a coordinator gave them the
///          steps.
DISTRIBUTE_INLINE void check_built(const train::CheckpointParts& parts,
                                   const StrategyExtended& extended) {
  for (const auto& [name, part] : parts) {
    const auto* object = std::get_if<const Trackable*>(&part);
    if (!object || is_built(**object)) continue;
    if (extended.has_coordinator())
      throw FailedPreconditionError(str_cat(
          "Checkpoint: not all variables of '", name, "' are known to the coordinator, as only ",
          "workers have made a step; before the first save call the model here, with zeros in the ",
          "shape of a batch, and optimizer.build(model.trainable_variables())"));
    if ((*object)->own_variables().empty())
      log_warning("checkpoint", str_cat("'", name, "' is saved without weights: its layers make ",
                                        "them at the first call, which has not come yet"));
  }
}

DISTRIBUTE_INLINE ValuesToSave values_to_save(const train::CheckpointParts& parts,
                                              StrategyExtended& extended,
                                              const train::CheckpointOptions& options) {
  if (options.keras_version != 2 && options.keras_version != 3)
    throw InvalidArgumentError(str_cat("CheckpointOptions: keras_version is ",
                                       options.keras_version, "; files are for Keras 2 or 3"));
  check_built(parts, extended);
  std::optional<ProgramGraph> program;
  std::vector<Tensor> states;
  const auto descriptions = strategy_internal::on_all_workers(extended, [&] {
    program.emplace(parts, options.keras_version);
    for (const auto& node : program->nodes())
      if (node.state) states.push_back(node.state->save());
    return describe_graph(*program);
  });
  check_same_graphs(descriptions);
  ValuesToSave values;
  add_states(values, *program, states, extended);
  std::map<std::string, Variable> variables;  // the same order on all workers
  for (const auto& node : program->nodes())
    if (node.variable) variables.emplace(node.key(), node.variable);
  for (const auto& [key, variable] : variables) {
    if (variable.impl().parts().empty())
      values[key] = train::value_to_save(variable);
    else
      values[key] = variable;
  }
  values[train::kObjectGraphKey] = encode_object_graph(program->to_proto(int(descriptions.size())));
  return values;
}

DISTRIBUTE_INLINE SavedShard read_shard(const Variable& shard) {
  return {train::value_to_save(shard), *shard.impl().save_slice_info()};
}

/// Makes values that no longer depend on variables and devices: another thread writes them.
DISTRIBUTE_INLINE void detach(ValuesToSave& values) {
  for (auto& [key, value] : values) {
    auto* tensor = std::get_if<Tensor>(&value);
    if (tensor && tensor->device().type == DeviceType::Gpu) value = tensor->to(Device{});
    const auto* cut = std::get_if<Variable>(&value);
    if (!cut) continue;
    std::vector<SavedShard> shards;
    for (const Variable& shard : cut->impl().parts()) shards.push_back(read_shard(shard));
    value = std::move(shards);
  }
}

DISTRIBUTE_INLINE void write_values(const std::string& prefix, const ValuesToSave& values) {
  const auto write = [](train::BundleWriter& writer, const std::string& key,
                        const SavedShard& shard) {
    train::write_shard(writer, key, shard.rows, shard.info);
  };
  train::BundleWriter writer(prefix);
  for (const auto& [key, value] : values) {
    if (const auto* text = std::get_if<std::string>(&value))
      writer.add_string(key, *text);
    else if (const auto* cut = std::get_if<Variable>(&value))
      for (const Variable& shard : cut->impl().parts()) write(writer, key, read_shard(shard));
    else if (const auto* shards = std::get_if<std::vector<SavedShard>>(&value))
      for (const SavedShard& shard : *shards) write(writer, key, shard);
    else
      train::write_tensor(writer, key, std::get<Tensor>(value));
  }
  writer.finish();
}

/// Counts a save when it ends, well or not.
struct SaveCount {
  ~SaveCount() {
    CheckpointMetrics& metrics = checkpoint_metrics();
    metrics.saves.get_cell({succeeded ? "ok" : "failed"}).increment_by();
    if (succeeded) metrics.seconds.add(double(watch.nanoseconds()) * 1e-9);
  }
  bool succeeded = false;
  monitoring::Stopwatch watch = {};
};

/// Makes one save; `prepare` and `publish` run on the chief.
DISTRIBUTE_INLINE void write_values(train::WorkerSave& save, const ValuesToSave& values,
                                    const std::function<void()>& prepare,
                                    const std::function<void()>& publish) {
  std::optional<SaveCount> count;
  if (save.is_chief()) count.emplace();
  if (prepare) save.run_on_chief(prepare);
  save.run([&] { write_values(save.path(), values); });
  save.agree();
  save.run_on_chief(publish);
  save.commit();
  if (count) count->succeeded = true;
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE Checkpoint::Checkpoint(Parts parts)
    : parts_(std::move(parts)),
      save_counter_(std::make_shared<PlainVariable>(
          Tensor(int64_t{0}),
          VariableOptions{.name = checkpoint_internal::kSaveCounter, .trainable = false})),
      job_(std::make_shared<checkpoint_internal::BackgroundJob>()) {
  parts_.emplace_back(checkpoint_internal::kSaveCounter, save_counter_);
  checkpoint_internal::check_parts(parts_);
  if (has_strategy()) strategy_ = &get_strategy();
}

DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model, const Trackable& optimizer)
    : Checkpoint(Parts{{"model", &model}, {"optimizer", &optimizer}}) {}
DISTRIBUTE_INLINE Checkpoint::Checkpoint(const Trackable& model)
    : Checkpoint(Parts{{"model", &model}}) {}

DISTRIBUTE_INLINE Strategy& Checkpoint::strategy() const {
  return strategy_ ? *strategy_ : get_strategy();
}

DISTRIBUTE_INLINE void Checkpoint::add_part(const std::string& name, CheckpointPart part) {
  Parts parts = parts_;
  parts.emplace_back(name, std::move(part));
  checkpoint_internal::check_parts(parts);
  parts_ = std::move(parts);
}

DISTRIBUTE_INLINE const CheckpointPart* Checkpoint::part(const std::string& name) const {
  for (const auto& part : parts_)
    if (part.first == name) return &part.second;
  return nullptr;
}

/// Reads all values before any worker writes, as reading some of them is an operation between
/// workers.
DISTRIBUTE_INLINE void Checkpoint::write_with(const std::string& prefix,
                                              const WorkerSaveOptions& where, ChiefWork work,
                                              const CheckpointOptions& options) const {
  sync();
  StrategyExtended& extended = strategy().extended();
  auto values = checkpoint_internal::values_to_save(parts_, extended, options);
  const auto publish = [work, prefix, told = options.experimental_write_callbacks] {
    if (work.publish) work.publish();
    for (const auto& callback : told) callback(prefix);
  };
  if (!options.enable_async) {
    WorkerSave save(strategy(), prefix, where);
    return checkpoint_internal::write_values(save, values, work.prepare, publish);
  }
  checkpoint_internal::detach(values);
  if (!extended.should_checkpoint()) return job_->start({});
  job_->start([prefix, where, work, publish, values = std::move(values)]() mutable {
    WorkerSave save(prefix, where);
    checkpoint_internal::write_values(save, values, work.prepare, publish);
    values.clear();  // not only when the job is waited for
  });
}

DISTRIBUTE_INLINE void Checkpoint::sync() const {
  if (!job_->pending()) return;
  strategy_internal::on_all_workers_for_long(strategy().extended(), [&] {
    job_->wait();
    return std::string();
  });
}

DISTRIBUTE_INLINE std::string Checkpoint::write(const std::string& prefix,
                                                const CheckpointOptions& options) const {
  checkpoint_internal::check_outside_replicas("write");
  write_with(prefix, {.is_checkpoint = true}, {}, options);
  return prefix;
}

DISTRIBUTE_INLINE std::string Checkpoint::save(const std::string& prefix,
                                               const CheckpointOptions& options) {
  checkpoint_internal::check_outside_replicas("save");
  sync();
  const int64_t before = save_counter();
  const std::string path = str_cat(prefix, "-", before + 1);
  const auto name_it = [path] {
    CheckpointState state;
    state.model_checkpoint_path = path;
    state.all_model_checkpoint_paths = {path};
    const std::string directory = io::directory_of(path);
    update_checkpoint_state(directory.empty() ? "." : directory, state);
  };
  set_save_counter(before + 1);
  try {
    write_with(path, {.is_checkpoint = true}, {.publish = name_it}, options);
    return path;
  } catch (...) {
    set_save_counter(before);
    throw;
  }
}

DISTRIBUTE_INLINE LoadStatus Checkpoint::read(const std::string& prefix) const {
  return restore(prefix);
}

DISTRIBUTE_INLINE LoadStatus Checkpoint::restore(const std::string& prefix) const {
  checkpoint_internal::check_outside_replicas("restore");
  sync();
  StrategyExtended& extended = strategy().extended();
  std::shared_ptr<checkpoint_internal::Restoration> restoration;
  try {
    const InputContext place = extended.input_context();
    checkpoint_internal::read_on_all_workers(strategy(), [&] {
      restoration = std::make_shared<checkpoint_internal::Restoration>(
          prefix, place.input_pipeline_id(), place.num_input_pipelines());
      restoration->read(checkpoint_internal::ProgramGraph(parts_));
    });
    restoration->assign();
    checkpoint_internal::checkpoint_metrics().restores.get_cell({"ok"}).increment_by();
  } catch (...) {
    checkpoint_internal::checkpoint_metrics().restores.get_cell({"failed"}).increment_by();
    if (restoration) restoration->set_quiet();
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
