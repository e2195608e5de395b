#pragma once
/// Restores one checkpoint file, into existing objects and those created later.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/checkpoint/detail/program_graph.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute::checkpoint_internal {

/// A file that is being restored. It lives as long as a status or an object that still waits for
/// values. It keeps no pointer to objects, so these may be moved and destroyed. The file is open
/// only while it is read. Thread-safe.
class Restoration : public std::enable_shared_from_this<Restoration> {
 public:
  /// Reads the index, for worker `rank` of `workers`. Throws  what BundleReader throws.
  explicit Restoration(const std::string& prefix, int rank = 0, int workers = 1);
  /// Warns of values that no object took, unless told not to. Slots of an optimizer that has made
  /// none so far, as it has not taken a step, are not meant.
  DISTRIBUTE_INLINE ~Restoration();

  /// Reads and checks every value that has a variable. States are restored here, as they can
  /// refuse.
  void read(const ProgramGraph& program);
  /// Assigns the values read to the variables. Objects that may get more values later get a
  /// restorer.
  void assign();
  /// Returns the node of the file for each node of the program, -1 if it has none.
  std::vector<int32_t> match(const ProgramGraph& program) const;
  /// Returns the key of a program's node in the file; null when the file has none.
  const std::string* key_of(const ProgramNode& node, int32_t file_node) const;

  /// Restores a variable or slot that was created on the object `parent` of the file.
  void created(int32_t parent, const std::string& name, const Variable& variable,
               const Variable& original);
  int32_t child(int32_t parent, const std::string& name) const;
  bool waits() const;
  /// Ends the restoration: nothing more is read from the file.
  void end();

  const std::string& prefix() const { return reader_.prefix(); }
  bool was_taken(const std::string& key) const;
  /// Returns a key that no object took; null when all were taken.
  const std::string* unused() const;
  bool has_matches() const;
  void set_quiet() { quiet_ = true; }

 private:
  const train::TrackableObject* node(int32_t id) const;
  int32_t keras2_loss_scale(int32_t parent, const std::string& name) const;
  int32_t slot(int32_t optimizer, int32_t original, const std::string& name) const;
  int32_t keras_slot(int32_t optimizer, int32_t original, const std::string& name) const;
  void match_trained(const ProgramGraph& program, size_t optimizer,
                     std::vector<int32_t>& found) const;
  void match_slots_by_order(const ProgramGraph& program, size_t optimizer,
                            std::vector<int32_t>& found) const;
  const std::string* state_key(const ProgramNode& node, const train::TrackableObject& saved) const;
  void take(const ProgramNode& node, int32_t file_node, const std::string& key);
  /// Notes the node of a restored variable, and of its shards, as slots of it may be created later.
  void remember(const Variable& variable, int32_t file_node);
  void note_waiting_slots(const ProgramNode& target, int32_t file_node);
  void leave_restorers();

  /// Values between read() and assign().
  struct Pending {
    std::vector<std::pair<Variable, Tensor>> values;
    std::vector<std::pair<Variable, std::string>> cut;  // with their keys; read shard by shard
    std::vector<std::pair<const Trackable*, int32_t>> objects;  // with their nodes in the file
  };

  const int rank_, workers_;
  mutable std::mutex mutex_;  // guards everything below
  train::BundleReader reader_;
  bool has_graph_;
  train::TrackableObjectGraph graph_;
  std::set<std::string> unused_;
  std::unordered_map<uint64_t, int32_t> variables_;   // restored ones by id -> node of the file
  std::map<int32_t, std::set<std::string>> waiting_;  // slots by their optimizer, not made yet
  size_t matched_ = 0;
  bool quiet_ = false, ended_ = false;
  Pending pending_;
};

/// An object holds it: the restoration, and the object's node in the file.
class NodeRestorer : public Trackable::Restorer {
 public:
  NodeRestorer(std::shared_ptr<Restoration> restoration, int32_t node)
      : restoration_(std::move(restoration)), node_(node) {}
  void created(const std::string& name, const Variable& variable,
               const Variable& original) override {
    restoration_->created(node_, name, variable, original);
  }
  DISTRIBUTE_INLINE std::shared_ptr<Trackable::Restorer> part(const std::string& name) override;

 private:
  std::shared_ptr<Restoration> restoration_;
  int32_t node_;
};

}  // namespace distribute::checkpoint_internal
