#pragma once
/// Some of the job's ranks, which operate beside the others.

#include <distribute/base/config.hpp>

#include <vector>

namespace distribute::hvd {

/// A value. A default-constructed one is the set of all ranks, number 0.
/// Source  horovod.ProcessSet
class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(int process_set_id) : id_(process_set_id) {}

  /// 0 is the set of all ranks.
  int process_set_id() const { return id_; }
  /// In order. Throws  InvalidArgumentError after remove_process_set(); FailedPreconditionError
  /// before init().
  std::vector<int> ranks() const;
  int size() const { return int(ranks().size()); }
  /// This process's place in it; -1 when it is not included.
  int rank() const;
  bool included() const { return rank() >= 0; }
  bool operator==(const ProcessSet&) const = default;

 private:
  int id_ = 0;
};

/// Every rank of the job calls it, in the same order, with the same ranks in any order.
/// Blocks  until all have called it and the members are connected.
/// Throws  InvalidArgumentError for ranks that do not exist or occur twice;
///         FailedPreconditionError on all ranks when they gave different ones, or when there is
///         such a set already.
/// Source  horovod.add_process_set
ProcessSet add_process_set(std::vector<int> ranks);
/// Every rank of the job calls it. Blocks  until all have.
/// Throws  FailedPreconditionError for a set that is gone already or the set of all ranks.
/// Source  horovod.remove_process_set
void remove_process_set(const ProcessSet& process_set);

/// Source  horovod.global_process_set
inline ProcessSet global_process_set() { return ProcessSet(); }

}  // namespace distribute::hvd
