#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/detail/program_graph.hpp>
#include <distribute/checkpoint/detail/restoration.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/detail/state_exchange.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace distribute::train_internal {

using checkpoint_internal::ProgramGraph;

/// A variable's copies, or a position.
struct StateExchange::Kept {
  Variable variable = {};
  std::vector<Tensor> copies = {};
  const train::TensorState* state = nullptr;
};

/// Endings of the files of the bundle in which the state is sent.
inline constexpr std::array<const char*, 2> kBundleFiles{".index", ".data-00000-of-00001"};

/// The number of the newest bundle.
struct BundleNumber {
  std::atomic<int64_t> last{0};
};

/// A bundle in the memory of this process, under a unique name; freed with its owner.
class MemoryBundle {
 public:
  MemoryBundle()
      : prefix_(str_cat("ram://elastic-state-", ++in_process<BundleNumber>().last, "/state")) {}
  MemoryBundle(const MemoryBundle&) = delete;
  ~MemoryBundle() {
    for (const char* suffix : kBundleFiles) fs_.remove_file(prefix_ + suffix).IgnoreError();
  }
  const std::string& prefix() const { return prefix_; }
  io::FileSystem& fs() const { return fs_; }

 private:
  std::string prefix_;
  io::FileSystem& fs_ = *value_or_throw(io::file_system_for("ram://"));
};

/// State received from another worker, and the objects that still take values from it.
struct StateExchange::Arrived {
  MemoryBundle bundle;
  std::shared_ptr<checkpoint_internal::Restoration> restoration;
};

DISTRIBUTE_INLINE StateExchange::StateExchange(train::CheckpointParts parts)
    : parts_(std::move(parts)) {}
DISTRIBUTE_INLINE StateExchange::~StateExchange() = default;

/// Slots, too, change with the update.
DISTRIBUTE_INLINE void StateExchange::find_small() {
  const ProgramGraph program(parts_);
  std::set<size_t> slots;
  for (const auto& node : program.nodes())
    for (const auto& slot : node.slots) slots.insert(slot.node);
  kept_.clear();
  for (size_t i = 0; i < program.nodes().size(); ++i) {
    const auto& node = program.nodes()[i];
    if (node.state && !node.derived) kept_.push_back({.state = node.state});
    if (node.variable && !node.variable.trainable() && !slots.contains(i))
      kept_.push_back({.variable = node.variable});
  }
}

/// Variables are made in the first steps; after them there are no new ones to find.
DISTRIBUTE_INLINE void StateExchange::keep() {
  constexpr int kSearches = 3;
  if (searches_++ < kSearches) find_small();
  forget_arrived();
  for (Kept& one : kept_) {
    one.copies.clear();
    if (one.state) one.copies.push_back(one.state->save());
    for (int i = 0; one.variable && i < one.variable.impl().num_components(); ++i)
      one.copies.push_back(one.variable.impl().component(i));
  }
}

DISTRIBUTE_INLINE void StateExchange::restore() {
  for (const Kept& one : kept_) {
    if (one.state) one.state->restore(one.copies[0]);
    for (size_t i = 0; one.variable && i < one.copies.size(); ++i)
      one.variable.impl().set_component(int(i), one.copies[i]);
  }
}

DISTRIBUTE_INLINE bool is_own(const Variable& variable) {
  const VariableOptions& options = variable.impl().options();
  return options.synchronization == VariableSynchronization::OnRead &&
         options.aggregation == VariableAggregation::Sum;
}

/// Packs the state as a checkpoint of one worker.
DISTRIBUTE_INLINE std::string StateExchange::pack() const {
  const ProgramGraph program(parts_);
  auto graph = program.to_proto();
  std::map<std::string, Tensor> values;  // in the order of keys
  for (size_t i = 0; i < program.nodes().size(); ++i) {
    const auto& node = program.nodes()[i];
    if (node.variable && is_own(node.variable))
      graph.nodes[i].attributes.clear();
    else if (node.has_value())
      values[node.key()] = node.state ? node.state->save() : node.variable.impl().component(0);
  }
  const MemoryBundle bundle;
  train::BundleWriter writer(bundle.prefix());
  writer.add_string(train::kObjectGraphKey, train::encode_object_graph(graph));
  for (const auto& [key, value] : values) train::write_tensor(writer, key, value);
  writer.finish();
  std::string bytes;
  for (const char* suffix : kBundleFiles) {
    const auto file = value_or_throw(bundle.fs().open(bundle.prefix() + suffix));
    const size_t size = size_t(file->size());
    bytes += str_cat(size, "\n");
    bytes.resize(bytes.size() + size);
    throw_if_error(file->read(0, std::span(bytes).last(size)));
  }
  return bytes;
}

DISTRIBUTE_INLINE void StateExchange::unpack(std::string bytes) {
  arrived_ = std::make_unique<Arrived>();
  const std::string& prefix = arrived_->bundle.prefix();
  size_t at = 0;
  for (const char* suffix : kBundleFiles) {
    const size_t size = std::stoull(bytes.substr(at, 20));
    at = bytes.find('\n', at) + 1;
    const auto file = value_or_throw(arrived_->bundle.fs().create(prefix + suffix));
    throw_if_error(file->append(std::string_view(bytes).substr(at, size)));
    at += size;
  }
  std::string().swap(bytes);  // the model is in memory once more only
  arrived_->restoration = std::make_shared<checkpoint_internal::Restoration>(prefix);
  arrived_->restoration->set_quiet();
  arrived_->restoration->read(ProgramGraph(parts_));
  arrived_->restoration->assign();
}

DISTRIBUTE_INLINE void StateExchange::forget_arrived() {
  if (!arrived_ || arrived_->restoration->waits()) return;
  arrived_->restoration->end();
  arrived_.reset();
}

DISTRIBUTE_INLINE void StateExchange::exchange(collective::Communicator& workers, int source,
                                               const std::vector<bool>& current) {
  searches_ = 0;
  if (std::find(current.begin(), current.end(), false) == current.end()) return;
  const bool mine = workers.rank() == source;
  std::string bytes = mine ? pack() : std::string();
  int64_t size = int64_t(bytes.size());
  workers.broadcast(&size, 1, DType::Int64, source);
  bytes.resize(size_t(size));
  workers.broadcast(bytes.data(), size, DType::UInt8, source);
  if (!current[size_t(workers.rank())]) unpack(std::move(bytes));
}

}  // namespace distribute::train_internal
