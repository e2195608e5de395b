#pragma once
/// Memory that all ranks of a host see, and how they wait for each other in it.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace distribute::collective {

/// A counter that one rank advances and others wait for. All zero is a valid start.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> waiters{0};  // in the kernel

  void advance();
};

/// The memory itself. No name in any file system: it goes away with the last process that maps it,
/// however that ends. All zero is a valid start, so it needs no initialization.
class Window {
 public:
  static constexpr int64_t kSlotBytes = 256
                                        << 10;  // two per rank: what fits into a second-level cache
  static constexpr int64_t kMailBytes = 64 << 10;  // one per ordered pair of ranks

  /// What a rank shows the others.
  struct Place {
    SharedCounter arrived;     // exchange steps it has begun
    Signature signatures[2];   // of the operation of step s at [s % 2]
    int64_t arena_offsets[2];  // where its array lies in its arena; -1: not there
    std::atomic<uint32_t> failed;
    char failure[236];  // written before `failed`
  };
  /// Data on its way from one rank to another.
  struct Channel {
    SharedCounter written, taken;
  };

  /// For ranks that are threads of this process.
  /// Throws  ResourceExhaustedError.
  static std::shared_ptr<Window> in_process(int ranks, int64_t arena_bytes = kArenaBytes);
  /// For processes: others map the memory with attach(descriptor()).
  static std::shared_ptr<Window> create(int ranks, int64_t arena_bytes = kArenaBytes);
  /// Takes ownership of `descriptor`.
  /// Throws  InvalidArgumentError when the memory is not a window of `ranks` ranks.
  static std::shared_ptr<Window> attach(int descriptor, int ranks,
                                        int64_t arena_bytes = kArenaBytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

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
};

/// How long to spin before giving up the core, in this moment.
struct Patience {
  int ranks;  // of this host that wait for each other
  /// None where that does not pay (base/cores).
  int spins() const;
  /// More where ranks outnumber cores, as the core then goes to another rank; none where it may go
  /// to other programs.
  int yields() const;
};

/// Waits a little while `counter` has the value `seen`: spins, yields, then sleeps up to 20 ms.
/// `round` counts the calls of one wait, from 0.
void wait_while(SharedCounter& counter, uint32_t seen, int round, const Patience& patience);

}  // namespace distribute::collective
