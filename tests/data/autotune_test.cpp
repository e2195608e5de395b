#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/autotune.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <atomic>
#include <latch>

using namespace distribute;
using namespace distribute::data;
using namespace distribute::data::data_internal;

namespace {

const ElementSpec kScalar = {{{}, DType::Int64}};

/// Threads that a search finds when the speed of n threads is speed(n); the consumer waits unless
/// it takes `consumer` elements a second.
template <typename Speed>
int64_t found(int64_t first, int64_t most, double consumer, const Speed& speed, int64_t budget) {
  ThreadSearch search(first, 1, most);
  for (int i = 0; i < 400; ++i) {
    const double able = speed(search.threads()), now = std::min(able, consumer);
    search.measured(now, able >= consumer ? 0.0 : 0.5,
                    [&](int64_t wanted) { return std::min(wanted, budget - search.threads()); });
  }
  return search.threads();
}

/// Counts the calls at the same time, and keeps each until it has seen `wanted` others, at most so
/// long that the pipeline reaches its end.
struct Meeting {
  std::atomic<int> now{0}, most{0};
  Batch operator()(const Batch& element) {
    const int here = ++now;
    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // work
    --now;
    return squared(element);
  }
};

}  // namespace

TEST_CASE("threads are found by the speed that they bring", "[data][autotune]") {
  const double endless = 1e9;
  const auto linear = [](int64_t n) { return 100.0 * double(n); };
  CHECK(found(1, 16, endless, linear, 16) == 16);
  CHECK(found(1, 16, endless, linear, 5) == 5);  // what the budget gives
  // A consumer that takes 350 a second needs four threads.
  const int64_t enough = found(1, 16, 350, linear, 16);
  CHECK(enough >= 4);
  CHECK(enough <= 5);
  CHECK(found(16, 16, 350, linear, 16) <= 5);
  // The source gives 300 a second, whatever the threads.
  const auto bounded = [](int64_t n) { return std::min(300.0, 100.0 * double(n)); };
  CHECK(found(1, 16, endless, bounded, 16) >= 3);
  CHECK(found(1, 16, endless, bounded, 16) <= 4);
}

TEST_CASE("a budget is never exceeded, except by what each stage begins with", "[data][autotune]") {
  Budget budget;
  CHECK(budget.take(3, 4) == 3);
  CHECK(budget.take(3, 4) == 1);
  CHECK(budget.take(3, 4) == 0);
  budget.take_always(1);
  CHECK(budget.taken() == 5);
  budget.give_back(5);
  CHECK(budget.taken() == 0);
}

TEST_CASE("a buffer doubles when its consumer finds it empty after it was full",
          "[data][autotune]") {
  Budget& bytes = in_process<AutotuneBudgets>().bytes;
  const int64_t before = bytes.taken();
  {
    TunedBuffer buffer(before + 100);
    buffer.consumed(0, 10);  // never full so far
    CHECK(buffer.size() == 2);
    for (const int64_t size : {4, 8}) {
      buffer.consumed(buffer.size(), 10);
      buffer.consumed(0, 10);
      CHECK(buffer.size() == size);
    }
    CHECK(bytes.taken() == before + 60);
    buffer.consumed(8, 10);
    buffer.consumed(0, 10);  // 80 bytes more than the budget has
    CHECK(buffer.size() == 8);
    CHECK(bytes.taken() == before + 60);
  }
  CHECK(bytes.taken() == before);
}

TEST_CASE("tuned stages give the same elements, and positions that go on exactly",
          "[data][autotune]") {
  Options options;
  options.autotune.cpu_budget = 4;
  options.autotune.initial_parallelism = GENERATE(1, 4);
  const Dataset map = Dataset::range(40)
                          .map(squared, {.num_parallel_calls = kAutotune, .output_spec = kScalar})
                          .prefetch()
                          .with_options(options);
  CHECK(scalars_of(map) == scalars_of(Dataset::range(40).map(squared)));
  CHECK(keeps_the_contract(map));
  const auto parts = [](const Batch& element) {
    return Dataset::range(element.x.item<int64_t>(), 7);
  };
  const Dataset plain = Dataset::range(6).interleave(parts, {.cycle_length = 3});
  const Dataset tuned = Dataset::range(6)
                            .interleave(parts, {.cycle_length = 3, .num_parallel_calls = kAutotune})
                            .with_options(options);
  CHECK(scalars_of(tuned) == scalars_of(plain));
  CHECK(keeps_the_contract(tuned));
}

TEST_CASE("a map that its consumer waits for gets more threads, within the budget",
          "[data][autotune]") {
  const auto meeting = std::make_shared<Meeting>();
  Budget& threads = in_process<AutotuneBudgets>().threads;
  const int64_t before = threads.taken();
  Options options;
  options.autotune.cpu_budget = before + 3;
  const Dataset slow = Dataset::range(1'000'000)
                           .map([meeting](const Batch& element) { return (*meeting)(element); },
                                {.num_parallel_calls = kAutotune, .output_spec = kScalar})
                           .with_options(options);
  {
    Iterator it = slow.iterator();
    // A sleeping function is as fast as it has threads, so that the search must find all of them.
    while (meeting->most < 3) it.next();
    for (int i = 0; i < 500; ++i) it.next();
    CHECK(threads.taken() <= before + 3);
  }
  CHECK(meeting->most == 3);
  CHECK(threads.taken() == before);
}

TEST_CASE("without autotune kAutotune is a fixed number", "[data][autotune]") {
  Options options;
  options.autotune.enabled = false;
  Pass pass = pass_over(*Dataset::range(1).with_options(options).node(), 0);
  CHECK_FALSE(threads_of_stage(kAutotune, 100, pass).tuned);
  CHECK(threads_of_stage(kAutotune, 100, pass).most ==
        std::min<int64_t>(100, num_threads_for(kAutotune)));
  CHECK(threads_of_stage(7, 100, pass).most == 7);
  CHECK(threads_of_stage(7, 3, pass).most == 3);
}

// TensorFlow 2.21, two maps with num_parallel_calls = 8: private_threadpool_size = 1, 2, 3 gave at
// most 1, 2, 3 calls at the same time.
TEST_CASE("private_threadpool_size limits the calls of all maps together", "[data][autotune]") {
  const int size = GENERATE(1, 2, 3);
  const auto meeting = std::make_shared<Meeting>();
  const auto call = [meeting](const Batch& element) {
    const int64_t value = element.x.item<int64_t>();
    (*meeting)(element);
    return to_batch(Tensor(Shape{}, std::vector<int64_t>{value + 1}));
  };
  const MapOptions eight{.num_parallel_calls = 8, .output_spec = kScalar};
  Options options;
  options.threading.private_threadpool_size = size;
  // Options count for the whole dataset, also where a transformation follows them.
  const Dataset limited =
      Dataset::range(40).map(call, eight).with_options(options).map(call, eight);
  CHECK(scalars_of(limited) == count_up(2, 42));
  CHECK(meeting->most == size);
}

TEST_CASE("max_intra_op_parallelism is what a map's function may use", "[data][autotune]") {
  const int here = intra_op_threads();
  std::atomic<int> seen{0};
  const int64_t calls = GENERATE(1, 2);
  const Dataset map = Dataset::range(4).map(
      [&](const Batch& element) {
        seen = intra_op_threads();
        return element;
      },
      {.num_parallel_calls = calls, .output_spec = kScalar});
  scalars_of(map);
  CHECK(seen == (calls == 1 ? here : 1));
  Options options;
  options.threading.max_intra_op_parallelism = 3;
  scalars_of(map.with_options(options));
  CHECK(seen == 3);
  CHECK(intra_op_threads() == here);
}

// TensorFlow 2.21: a.merge(b) is (True, 3, 5), b.merge(a) (False, 3, 5) with these.
TEST_CASE("options are merged field by field, and later ones win", "[data][options]") {
  Options a, b;
  a.deterministic = false;
  a.threading.private_threadpool_size = 3;
  b.autotune.cpu_budget = 5;
  b.deterministic = true;
  const auto check = [](const Options& merged, bool deterministic) {
    CHECK(merged.deterministic == deterministic);
    CHECK(merged.threading.private_threadpool_size == 3);
    CHECK(merged.autotune.cpu_budget == 5);
  };
  check(a.merge(b), true);
  check(b.merge(a), false);
  check(Dataset::range(2).with_options(a).batch(1).with_options(b).options(), true);
  check(Dataset::range(2).with_options(b).batch(1).with_options(a).options(), false);
}

// TensorFlow takes -1 and 0 without a word.
TEST_CASE("options that mean nothing are refused", "[data][options]") {
  const auto refused = [](auto change, const char* words) {
    Options options;
    change(options);
    check_throws<InvalidArgumentError>([&] { Dataset::range(2).with_options(options); }, words);
  };
  refused([](Options& o) { o.threading.private_threadpool_size = -1; },
          "threading.private_threadpool_size must be at least 0, got -1");
  refused([](Options& o) { o.threading.max_intra_op_parallelism = 0; },
          "max_intra_op_parallelism must be at least 1, got 0");
  refused([](Options& o) { o.autotune.cpu_budget = 0; }, "cpu_budget must be at least 1, got 0");
  refused([](Options& o) { o.autotune.ram_budget = -5; }, "ram_budget must be at least 0, got -5");
  refused([](Options& o) { o.autotune.initial_parallelism = 0; }, "initial_parallelism");
  refused([](Options& o) { o.autotune.min_parallelism = 0; }, "min_parallelism");
}
