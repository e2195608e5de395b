#pragma once
/// Memory that all ranks of a host share, and waiting for each other in it.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace distribute::collective {

/// A counter that one rank advances and for which others wait. All bytes zero is a valid start.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> waiters{0};  // ranks that sleep in the kernel

  void advance();
};

/// Shared memory without a name in any file system: it is freed with the last process that maps it,
/// however that ends. All bytes zero is a valid start, so it needs no initialization.
class Window {
 public:
  static constexpr int64_t kSlotBytes = 256
                                        << 10;  // two per rank: what fits into a second-level cache
  static constexpr int64_t kMailBytes = 64 << 10;  // for each ordered pair of ranks

  /// The part of a rank that the others read.
  struct Place {
    SharedCounter arrived;     // number of exchange steps it has begun
    Signature signatures[2];   // of the operation of step s at [s % 2]
    int64_t arena_offsets[2];  // position of its array in its arena; -1: elsewhere
    std::atomic<uint32_t> failed;
    char failure[236];  // message, written before `failed`
  };
  /// Data that one rank sends to another.
  struct Channel {
    SharedCounter written, taken;
  };

  /// Makes a window for ranks that are threads of this process.
  /// Throws  ResourceExhaustedError.
  static std::shared_ptr<Window> in_process(int ranks, int64_t arena_bytes = kArenaBytes);
  /// Makes a window for processes; others map the memory with attach(descriptor()).
  static std::shared_ptr<Window> create(int ranks, int64_t arena_bytes = kArenaBytes);
  /// Takes ownership of `descriptor`.
  /// Throws  InvalidArgumentError when the memory is not a window of `ranks` ranks.
  static std::shared_ptr<Window> attach(int descriptor, int ranks,
                                        int64_t arena_bytes = kArenaBytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Says which task each rank belongs to, for messages.
  void set_tasks(std::vector<std::string> tasks) { tasks_ = std::move(tasks); }
  /// Returns "rank 5 (worker 1 (host-b:2222))" for the rank that has the number 5 in its group.
  std::string name(int rank, int number) const;

  int ranks() const { return ranks_; }
  int descriptor() const { return descriptor_; }
  Place& place(int rank) const;
  Channel& channel(int from, int to) const;
  std::byte* mail(int from, int to) const;
  std::byte* slot(int rank, uint32_t step) const;
  std::span<std::byte> arena(int rank) const;

  /// Address space, not memory: a page becomes memory when it is first touched.
  static constexpr int64_t kArenaBytes = int64_t{1} << 30;

 private:
  Window(int descriptor, int ranks, int64_t arena_bytes);
  int64_t bytes() const;

  int descriptor_;
  int ranks_;
  int64_t arena_bytes_;
  std::byte* base_ = nullptr;
  std::vector<std::string> tasks_;  // of each rank; empty where all are threads of this process
};

/// Returns how long to spin before yielding the core at the moment.
struct Patience {
  int ranks;  // of this host that wait for each other
  /// Returns 0 if spinning does not pay (base/cores).
  int spins() const;
  /// Returns more if ranks outnumber cores, as the core then goes to another rank; 0 if it may go
  /// to other programs.
  int yields() const;
};

/// Waits a little while `counter` has the value `seen`: spins, yields, then sleeps up to 20 ms.
/// `round` counts the calls of one wait, from 0.
void wait_while(SharedCounter& counter, uint32_t seen, int round, const Patience& patience);

}  // namespace distribute::collective
