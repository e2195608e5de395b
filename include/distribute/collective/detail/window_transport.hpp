#pragma once
/// Collectives between ranks that share memory: threads of a process, processes of a host.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/abort_state.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/collective/detail/window.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::collective {

/// Works in exchange steps. In a step every rank writes into its slot, arrives, waits until all
/// have arrived, and reads the others' slots. Every rank sums a slice of the array.
/// Arrays in the ranks' arenas are not copied: the owner of a slice reads all of them in place and
/// writes the sum into all.
/// 1. Slots alternate, so a step needs one wait: a rank that writes into a slot again knows that
///    all have read it, since they have arrived at the step between.
class WindowTransport : public Transport {
 public:
  /// `name` is "threads" or "shm".
  WindowTransport(std::shared_ptr<Window> window, int rank, const char* name);

  const char* name() const override { return name_; }
  int rank() const override { return rank_; }
  int size() const override { return window_->ranks(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;
  std::span<std::byte> shared_memory(int rank) const override { return window_->arena(rank); }

 private:
  using Fill = std::function<void(std::byte* slot)>;

  void dispatch(const Operation& operation);
  /// Makes one exchange step: arrives, and waits for all.
  void exchange();
  void begin(const Operation& operation, const void* array);
  void wait_for(SharedCounter& counter, uint32_t value, int peer);
  [[noreturn]] void throw_late(int peer) const;
  void check_peer(int peer) const;
  void fail(const std::string& message);

  void all_reduce_small();
  void all_reduce_blocks();
  void reduce_block(int64_t begin, int64_t count);
  bool all_in_arenas() const;
  void all_reduce_in_place();
  void reduce();
  void broadcast();
  void all_gather();
  /// Implements ReduceScatter and AllToAll, with a piece for each rank in every slot.
  void exchange_pieces();
  void take_pieces(int64_t offset, int64_t most);
  void send();
  void receive();

  const std::byte* input(int64_t element) const;
  std::byte* output(int64_t element) const;
  int64_t element_bytes() const { return size_of(operation_->dtype); }
  std::byte* read_slot(int peer) const { return window_->slot(peer, step_ - 1); }
  std::byte* write_slot() const { return window_->slot(rank_, step_); }
  int64_t count_of(int rank) const;
  int64_t offset_of(int rank) const;

  std::shared_ptr<Window> window_;
  const int rank_;
  const char* const name_;
  const Patience patience_;
  const Operation* operation_ = nullptr;  // set while execute() runs
  uint32_t step_ = 0;                     // number of exchange steps done
  AbortState aborted_;
  std::mutex failure_mutex_;  // held to write Place::failure
};

/// Makes the ranks of a group of threads.
std::vector<std::unique_ptr<Transport>> make_thread_transports(int ranks);

}  // namespace distribute::collective
