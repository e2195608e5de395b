#pragma once
/// An optimizer step of all replicas of a process, in one pass over memory.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace distribute::strategy_internal {

/// Updates variables whose replicas share one value: every replica thread takes its share of the
/// elements, sums the replicas' gradients of some thousand elements in the order of a tree and
/// calls the kernel on the sum while it is in the cache. Sparse gradients and variables whose
/// copies differ are updated by the constructor, on one replica.
class SharedUpdate {
 public:
  /// `gradients[u]` are those of update u, one per replica, or a single one if they are reduced
  /// already.
  /// Throws  InvalidArgumentError as check_update does.
  SharedUpdate(std::span<const VariableUpdate> updates, std::vector<std::vector<Tensor>> gradients,
               const UpdateKernel& kernel);

  /// Prepares the next step of the same variables, with gradients in the same memory, after
  /// finish(): takes the variables again, and keeps everything that does not change. Returns false
  /// and does nothing for other variables.
  bool begin_again(std::span<const VariableUpdate> updates);
  /// Updates the share of one of `replicas` threads.
  void compute(int replica, int replicas, const UpdateKernel& kernel) const;
  /// Stores the new values in the variables and releases them. Call it after all shares.
  void finish();
  /// Whether all memory that compute() writes lies in `memory`.
  bool writes_only(std::span<const std::byte> memory) const;

 private:
  static constexpr int64_t kChunk = 2048;
  /// Memory that a thread reuses for each slice.
  struct Scratch {
    std::vector<const float*> gradients;
    std::vector<std::vector<float>> products;  // of lazy ones, by replica
    std::vector<float*> slots;
    std::vector<float> sum = std::vector<float>(size_t(kChunk));
  };
  bool is_for(std::span<const VariableUpdate> updates) const;
  void add(size_t update, const UpdateKernel& kernel);
  void update_apart(size_t update, Tensor gradient, const UpdateKernel& kernel) const;
  /// Returns the slices that begin in a replica's share of the elements.
  Share slices_of(int replica, int replicas) const;
  void find_gradients(const replica_internal::UpdateSlice& slice, Scratch& scratch) const;
  void compute_slice(const replica_internal::UpdateSlice& slice, Scratch& scratch,
                     const UpdateKernel& kernel) const;

  std::vector<VariableUpdate> updates_;  // without variables between finish() and begin_again()
  std::vector<uint64_t> ids_;            // of the variables and slots of all updates
  // whether every update is a target that reads the given gradients
  bool repeats_ = true;
  std::vector<std::vector<Tensor>> gradients_;  // by update
  std::vector<size_t> update_of_;               // target -> update
  std::vector<replica_internal::UpdateTarget> targets_;
  std::vector<replica_internal::UpdateSlice> slices_;
  std::vector<int64_t> ends_;  // elements up to the end of each slice
};

/// Whether all components of the variable are the same tensor.
bool is_shared(const Variable& variable);

}  // namespace distribute::strategy_internal
