#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/window.hpp>

#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace distribute::collective {

DISTRIBUTE_INLINE void SharedCounter::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (waiters.load(std::memory_order_seq_cst) != 0)
    ::syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

DISTRIBUTE_INLINE int Patience::spins() const { return spinning_pays(ranks) ? 2000 : 0; }

DISTRIBUTE_INLINE int Patience::yields() const {
  if (cores_are_contended()) return 0;
  return spinning_pays(ranks) ? 20 : 50;
}

DISTRIBUTE_INLINE void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

DISTRIBUTE_INLINE void wait_while(SharedCounter& counter, uint32_t seen, int round,
                                  const Patience& patience) {
  if (round == 0)
    for (int i = 0, spins = patience.spins(); i < spins; ++i) {
      if (counter.value.load(std::memory_order_acquire) != seen) return;
      pause_core();
    }
  if (round < patience.yields()) {
    std::this_thread::yield();
    return;
  }
  counter.waiters.fetch_add(1, std::memory_order_seq_cst);
  if (counter.value.load(std::memory_order_seq_cst) == seen) {
    const timespec most{0, 20'000'000};  // a waiter also looks for aborts and its deadline
    ::syscall(SYS_futex, &counter.value, FUTEX_WAIT, seen, &most, nullptr, 0);
  }
  counter.waiters.fetch_sub(1, std::memory_order_seq_cst);
}

// The layout is: places
// channels
// slots
// mail
// arenas, each beginning on a new page.
DISTRIBUTE_INLINE int64_t page_aligned(int64_t bytes) { return (bytes + 4095) & ~int64_t{4095}; }
DISTRIBUTE_INLINE int64_t places_bytes(int ranks) {
  return page_aligned(ranks * int64_t(sizeof(Window::Place)));
}
DISTRIBUTE_INLINE int64_t channels_bytes(int ranks) {
  return page_aligned(int64_t{ranks} * ranks * int64_t(sizeof(Window::Channel)));
}
DISTRIBUTE_INLINE int64_t slots_begin(int ranks) {
  return places_bytes(ranks) + channels_bytes(ranks);
}
DISTRIBUTE_INLINE int64_t mail_begin(int ranks) {
  return slots_begin(ranks) + 2 * ranks * Window::kSlotBytes;
}
DISTRIBUTE_INLINE int64_t arenas_begin(int ranks) {
  return mail_begin(ranks) + int64_t{ranks} * ranks * Window::kMailBytes;
}

DISTRIBUTE_INLINE int64_t Window::bytes() const {
  return arenas_begin(ranks_) + ranks_ * arena_bytes_;
}

DISTRIBUTE_INLINE std::string Window::name(int rank, int number) const {
  return str_cat("rank ", number, tasks_.empty() ? "" : " (" + tasks_[size_t(rank)] + ")");
}

DISTRIBUTE_INLINE Window::Place& Window::place(int rank) const {
  return reinterpret_cast<Place*>(base_)[rank];
}

DISTRIBUTE_INLINE Window::Channel& Window::channel(int from, int to) const {
  return reinterpret_cast<Channel*>(base_ + places_bytes(ranks_))[from * ranks_ + to];
}

DISTRIBUTE_INLINE std::byte* Window::slot(int rank, uint32_t step) const {
  return base_ + slots_begin(ranks_) + (2 * rank + int(step % 2)) * kSlotBytes;
}

DISTRIBUTE_INLINE std::byte* Window::mail(int from, int to) const {
  return base_ + mail_begin(ranks_) + (int64_t{from} * ranks_ + to) * kMailBytes;
}

DISTRIBUTE_INLINE std::span<std::byte> Window::arena(int rank) const {
  return {base_ + arenas_begin(ranks_) + rank * arena_bytes_, size_t(arena_bytes_)};
}

DISTRIBUTE_INLINE Window::Window(int descriptor, int ranks, int64_t arena_bytes)
    : descriptor_(descriptor), ranks_(ranks), arena_bytes_(page_aligned(arena_bytes)) {
  const int flags = MAP_SHARED | MAP_NORESERVE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* memory = ::mmap(nullptr, size_t(bytes()), PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw ResourceExhaustedError(str_cat("cannot map ", bytes(), " bytes of shared memory for ",
                                         ranks, " ranks: ", std::strerror(error)));
  }
  base_ = static_cast<std::byte*>(memory);
}

DISTRIBUTE_INLINE Window::~Window() {
  ::munmap(base_, size_t(bytes()));
  if (descriptor_ >= 0) ::close(descriptor_);
}

DISTRIBUTE_INLINE std::shared_ptr<Window> Window::in_process(int ranks, int64_t arena_bytes) {
  return std::shared_ptr<Window>(new Window(-1, ranks, arena_bytes));
}

DISTRIBUTE_INLINE std::shared_ptr<Window> Window::create(int ranks, int64_t arena_bytes) {
  base_internal::ignore_file_size_signal();
  const int descriptor = ::memfd_create("distribute", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const int64_t bytes = arenas_begin(ranks) + ranks * page_aligned(arena_bytes);
  // Sealed: a shorter file would kill every process that has mapped it.
  if (descriptor < 0 || ::ftruncate(descriptor, bytes) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw ResourceExhaustedError(str_cat("cannot make ", bytes, " bytes of shared memory: ",
                                         base_internal::system_error_text(error)));
  }
  return std::shared_ptr<Window>(new Window(descriptor, ranks, arena_bytes));
}

DISTRIBUTE_INLINE std::shared_ptr<Window> Window::attach(int descriptor, int ranks,
                                                         int64_t arena_bytes) {
  struct stat status {};
  const int64_t bytes = arenas_begin(ranks) + ranks * page_aligned(arena_bytes);
  if (::fstat(descriptor, &status) != 0 || status.st_size != bytes) {
    ::close(descriptor);
    throw InvalidArgumentError(str_cat("the shared memory is not a window of ", ranks, " ranks: ",
                                       status.st_size, " bytes, ", bytes, " are wanted"));
  }
  return std::shared_ptr<Window>(new Window(descriptor, ranks, arena_bytes));
}

}  // namespace distribute::collective
