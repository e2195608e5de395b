#pragma once
/// The threads of one block of a kernel that the host's compiler made, as fibers.

#include <tests/support/sanitizers.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <setjmp.h>
#include <ucontext.h>

namespace distribute::testing {

struct HostIndex {
  unsigned x, y, z;
};

/// A kernel inside a loaded library.
struct HostKernel {
  std::string name;
  void (*run)(const void* arguments) = nullptr;
  const unsigned long* argument_bytes = nullptr;  // the driver's interface does not tell
  HostIndex *thread = nullptr, *block = nullptr, *block_size = nullptr, *grid = nullptr;
  void (**barrier)() = nullptr;
  uint64_t (**shuffle)(uint64_t, unsigned) = nullptr;
};

/// A thread that reaches a barrier waits in its fiber until all others of the block are there, one
/// that shuffles for the others of its warp. In between threads run in an order drawn by lot, so
/// that a missing barrier shows; those without barriers share one fiber.
class BlockRunner {
 public:
  BlockRunner(const HostKernel& kernel, const void* arguments, unsigned threads)
      : kernel_(kernel), arguments_(arguments), order_(threads), done_(threads), values_(threads) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  /// False when threads wait for each other for ever.
  bool run() {
    current() = this;
    *kernel_.barrier = [] { current()->wait(Place::Barrier); };
    *kernel_.shuffle = [](uint64_t bits, unsigned lane) { return current()->shuffle(bits, lane); };
    std::shuffle(order_.begin(), order_.end(), random_);
    std::fill(done_.begin(), done_.end(), false);
    next_ = 0;
    while (next_ < order_.size()) start();
    for (;;) {
      std::vector<Fiber*> ready = released();
      if (ready.empty()) return finish();
      std::shuffle(ready.begin(), ready.end(), random_);
      for (Fiber* fiber : ready) resume(*fiber);
    }
  }

 private:
  enum class Place { Running, Barrier, Warp };
  /// Where a stack goes on: at `at` once it has begun.
  struct Point {
    ucontext_t context;
    jmp_buf at;
    bool has_begun = false;
  };
  struct Fiber {
    Point point;
    std::unique_ptr<char[]> stack;
    unsigned thread = 0;
    Place place = Place::Running;
  };
  /// What a thread shows the others of its warp: two places, as a quick one may be a shuffle ahead.
  struct Shown {
    uint64_t bits[2];
    unsigned turn;
  };
  static constexpr unsigned kWarp = 32;

  bool finish() {
    const bool all = std::all_of(done_.begin(), done_.end(), [](bool done) { return done; });
    if (all) std::move(fibers_.begin(), fibers_.end(), std::back_inserter(spare()));
    fibers_.clear();  // those that wait for ever, too
    return all;
  }

  static BlockRunner*& current() {
    static BlockRunner* runner = nullptr;
    return runner;
  }
  /// Fibers that have done their work wait for more, of any block.
  static std::vector<std::unique_ptr<Fiber>>& spare() {
    static std::vector<std::unique_ptr<Fiber>> fibers;
    return fibers;
  }
  static void enter() {
    for (;;) {
      current()->work();
      current()->leave();
    }
  }

  /// Warps whose threads are all at a shuffle, else all threads when all are at the barrier.
  std::vector<Fiber*> released() {
    std::vector<unsigned> missing((done_.size() + kWarp - 1) / kWarp, 0);
    unsigned outside = 0;
    for (unsigned t = 0; t < done_.size(); ++t) missing[t / kWarp] += !done_[t];
    for (const auto& fiber : fibers_) {
      missing[fiber->thread / kWarp] -= fiber->place == Place::Warp;
      outside += fiber->place == Place::Warp;
    }
    std::vector<Fiber*> ready;
    for (const auto& fiber : fibers_) {
      const bool whole = missing[fiber->thread / kWarp] == 0;
      if (fiber->place == Place::Warp && whole) ready.push_back(fiber.get());
    }
    if (!ready.empty() || outside) return ready;
    for (const auto& fiber : fibers_)
      if (fiber->place == Place::Barrier) ready.push_back(fiber.get());
    return ready;
  }

  static std::unique_ptr<Fiber> make_fiber() {
    constexpr size_t kStack = 64 << 10;
    auto fiber = std::make_unique<Fiber>();
    fiber->stack.reset(new char[kStack]);
    ucontext_t& context = fiber->point.context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber->stack.get();
    context.uc_stack.ss_size = kStack;
    makecontext(&context, enter, 0);
    return fiber;
  }
  void start() {
    if (spare().empty()) spare().push_back(make_fiber());
    fibers_.push_back(std::move(spare().back()));
    spare().pop_back();
    fibers_.back()->thread = order_[next_];
    resume(*fibers_.back());
  }
  void resume(Fiber& fiber) {
    running_ = &fiber;
    fiber.place = Place::Running;
    kernel_.thread->x = fiber.thread;
    change(main_, fiber.point);  // until it waits, or has done its work
  }
  void leave() { change(running_->point, main_); }
  /// swapcontext() also sets the signal mask: two system calls, which took most of a kernel's time.
  static void change(Point& from, Point& to) {
    from.has_begun = true;
    if constexpr (with_thread_sanitizer || with_address_sanitizer) {
      swapcontext(&from.context, &to.context);
    } else {
      if (_setjmp(from.at) != 0) return;
      if (to.has_begun) _longjmp(to.at, 1);
      setcontext(&to.context);
    }
  }
  /// The body of a fiber: threads one after the other, as long as none of them waits.
  void work() {
    Fiber* self = running_;
    size_t before = 0;
    do {
      self->thread = order_[next_++];
      values_[self->thread] = {};
      kernel_.thread->x = self->thread;
      before = waits_;
      kernel_.run(arguments_);
      done_[self->thread] = true;
    } while (waits_ == before && next_ < order_.size());
  }
  void wait(Place place) {
    ++waits_;
    running_->place = place;
    leave();
  }
  uint64_t shuffle(uint64_t bits, unsigned lane) {
    const unsigned thread = running_->thread, source = thread / kWarp * kWarp + lane;
    Shown& own = values_[thread];
    const unsigned turn = own.turn++ % 2;
    own.bits[turn] = bits;
    wait(Place::Warp);
    return lane < kWarp && source < values_.size() ? values_[source].bits[turn] : bits;
  }

  const HostKernel& kernel_;
  const void* arguments_;
  std::vector<unsigned> order_;
  std::vector<bool> done_;
  std::vector<Shown> values_;
  std::minstd_rand random_;
  size_t next_ = 0, waits_ = 0;
  Point main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
};

}  // namespace distribute::testing
