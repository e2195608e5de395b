#pragma once
/// What a dispatcher knows, changed only by entries that can be kept in a journal.

#include <distribute/base/config.hpp>
#include <distribute/data_service/detail/service_messages.hpp>
#include <distribute/io/tfrecord.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace distribute::data::service_internal {

enum class EntryKind : uint8_t {
  Dataset,
  Worker,
  Iteration,
  Task,
  State,
  Delivered,
  Split,
  End,
  Chunk
};

/// One change. Its kind says which members it uses. An entry of kind State gives a task to a
/// worker, or takes the task from it.
struct JournalEntry {
  EntryKind kind = EntryKind::Dataset;
  uint64_t iteration = 0;
  int64_t task = 0;
  uint64_t number = 0;  // a worker's start, a pass, a generation
  int64_t worker = -1;
  ShardingPolicy mode = ShardingPolicy::Off;
  TaskState state = TaskState::Waiting;
  int64_t repetition = 0, begin = 0, end = 0;
  int64_t num_consumers = 0;
  bool cached = false;
  std::string name = {}, dataset = {};  // an address, a job
  Intervals delivered = {};
  std::vector<DatasetFacts> facts = {};
  SaveTarget save = {};
  StatusCode code = StatusCode::Ok;
  std::string error = {};  // why a save has failed
  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, EntryKind::Chunk)("iteration", iteration)("task", task)("number", number);
    visit("worker", worker)("mode", mode, ShardingPolicy::Hint)("state", state, TaskState::Saved);
    visit("repetition", repetition)("begin", begin)("end", end);
    visit("num_consumers", num_consumers)("cached", cached)("name", name);
    visit("dataset", dataset)("delivered", delivered)("facts", facts);
    visit("save", save)("code", code, StatusCode::Unauthenticated)("error", error);
  }
};

struct KnownWorker {
  std::string address = {};
  uint64_t start = 0;
};

struct Task {
  TaskState state = TaskState::Waiting;
  uint64_t generation = 0;
  int64_t worker = -1;
  Intervals delivered = {};
  int64_t chunks = 0;  // of a save, in which the delivered elements are
  std::map<int64_t, std::vector<SplitAnswer>> splits = {};  // by repetition, in their order
};

struct Iteration {  // one pass of a job
  std::string job = {}, dataset = {};
  uint64_t pass = 0;
  ShardingPolicy mode = ShardingPolicy::Off;
  int64_t num_consumers = 0;
  bool cached = false;  // its trainers read at positions of their own
  std::vector<Task> tasks = {};
  std::map<int64_t, int64_t> next_item = {};  // by repetition
  bool finished = false;                      // a consumer has seen its end, or a save has failed
  SaveTarget save = {};
  StatusCode code = StatusCode::Ok;
  std::string error = {};  // why it has failed
};

/// Thread-compatible.
class DispatcherState {
 public:
  void apply(const JournalEntry& entry);
  /// The entries that make this state from an empty one.
  std::vector<JournalEntry> entries() const;

  std::map<std::string, DatasetFacts> datasets;
  std::map<int64_t, KnownWorker> workers;  // also those that are lost
  std::map<uint64_t, Iteration> iterations;
  uint64_t last_iteration = 0;
};

/// A file of entries. Thread-compatible.
class Journal {
 public:
  /// Reads what is in the directory into `state`, and begins a new file with it. An entry that was
  /// cut while it was written had no answer yet and is left out.
  /// Throws  DataLossError for a file that is damaged in another way; the file system's errors.
  Journal(const std::string& work_dir, DispatcherState& state);
  /// Returns when the entry is in the file.
  void write(const JournalEntry& entry);

 private:
  std::optional<io::RecordWriter> file_;
};

}  // namespace distribute::data::service_internal
