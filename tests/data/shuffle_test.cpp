#include <distribute/data/detail/shuffle.hpp>

#include <distribute/base/limits.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/ops/detail/global_seed.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using namespace distribute::data;

static Numbers sorted(Numbers values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST_CASE("shuffle gives every element once, in an order that the seed fixes", "[data][shuffle]") {
  const auto hundred = Dataset::range(100);
  const Numbers a = scalars_of(hundred.shuffle(100, {.seed = 1}));
  CHECK(a != count_up(0, 100));
  CHECK(sorted(a) == count_up(0, 100));
  CHECK(scalars_of(hundred.shuffle(100, {.seed = 1})) == a);
  CHECK(scalars_of(hundred.shuffle(100, {.seed = 2})) != a);
  CHECK(scalars_of(hundred.shuffle(60'000, {.seed = 1})) == a);
}

TEST_CASE("a small buffer moves elements forward by less than its size", "[data][shuffle]") {
  const Numbers order = scalars_of(Dataset::range(100).shuffle(10, {.seed = 3}));
  CHECK(sorted(order) == count_up(0, 100));
  for (size_t i = 0; i < order.size(); ++i) CHECK(order[i] <= int64_t(i) + 9);
  CHECK(scalars_of(Dataset::range(9).shuffle(1)) == count_up(0, 9));
}

TEST_CASE("every iteration draws a new order unless told not to", "[data][shuffle]") {
  const auto again = Dataset::range(50).shuffle(50, {.seed = 4});
  const Numbers first = scalars_of(again), second = scalars_of(again);
  CHECK(first != second);
  const auto fixed = Dataset::range(50).shuffle(50, {.seed = 4, .reshuffle_each_iteration = false});
  CHECK(scalars_of(fixed) == first);
  CHECK(scalars_of(fixed) == first);
  Numbers both = first;
  both.insert(both.end(), second.begin(), second.end());
  CHECK(scalars_of(Dataset::range(50).shuffle(50, {.seed = 4}).repeat(2)) == both);
}

TEST_CASE("a derived dataset made for every epoch sees new orders too", "[data][shuffle]") {
  const auto shuffled = Dataset::range(50).shuffle(50, {.seed = 4});
  const Numbers first = scalars_of(shuffled.take(50)), second = scalars_of(shuffled.take(50));
  CHECK(first != second);
  const auto anew = Dataset::range(50).shuffle(50, {.seed = 4});
  CHECK(scalars_of(anew) == first);
  CHECK(scalars_of(anew) == second);
}

TEST_CASE("reading one dataset leaves the orders of another alone", "[data][shuffle]") {
  const auto source = Dataset::range(60);
  const auto train = source.take(50).shuffle(50), test = source.skip(50);
  const auto alone = Dataset::range(60).take(50).shuffle(50);
  for (int epoch = 0; epoch < 3; ++epoch) {
    CHECK(scalars_of(train) == scalars_of(alone));
    scalars_of(test);
  }
}

TEST_CASE("rows and mapped elements are shuffled alike", "[data][shuffle]") {
  const auto same = [](const Batch& b) { return b; };
  const auto rows = Dataset::range(64).shuffle(16, {.seed = 5}).map(same);
  const auto before = Dataset::range(64).skip(0).map(same).shuffle(16, {.seed = 5});
  CHECK(sorted(scalars_of(rows)) == sorted(scalars_of(before)));
}

TEST_CASE("without a seed the order is that of the global seed", "[data][shuffle]") {
  const auto shuffled = [] { return scalars_of(Dataset::range(30).shuffle(30)); };
  const Numbers a = shuffled();
  CHECK(shuffled() == a);
  ops_internal::global_seed() = 77;
  CHECK(shuffled() != a);
  ops_internal::global_seed() = 0;
}

TEST_CASE("two shuffles of one pipeline do not undo each other", "[data][shuffle]") {
  CHECK(scalars_of(Dataset::range(40).shuffle(40).shuffle(40)) !=
        scalars_of(Dataset::range(40).shuffle(40)));
}

TEST_CASE("every place is about equally likely", "[data][shuffle]") {
  std::vector<int> first_place(8);
  for (uint64_t seed = 0; seed < 4000; ++seed)
    ++first_place[size_t(scalars_of(Dataset::range(8).shuffle(8, {.seed = seed}))[0])];
  for (int count : first_place) CHECK(count == Approx(500).margin(120));
}

TEST_CASE("an error in the input loses no element of the buffer", "[data][shuffle]") {
  int calls = 0;
  const auto faulty = Dataset::range(6).map(
      [&](const Batch& b) {
        if (++calls == 4) throw UnavailableError("gone");
        return b;
      },
      {.output_spec = ElementSpec{{{}, DType::Int64}}});
  Iterator it = faulty.shuffle(3, {.seed = 1}).iterator();
  Numbers got;
  for (int i = 0; i < 10; ++i) try {
      if (const auto element = it.get_next_as_optional()) got.push_back(element->x.item<int64_t>());
    } catch (const UnavailableError&) {
    }
  CHECK(sorted(got) == Numbers{0, 1, 2, 4, 5});
}

/// Sets `ulimit -v` so that a twentieth of what is in use is left, and waits until the library
/// knows; false: without a limit again.
static void leave_little_memory(bool little) {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = rlim_t{1} << 47;
  ::setrlimit(RLIMIT_AS, &limit);  // for address_room()
  if (little) limit.rlim_cur = rlim_t(double(address_room()->used) * 1.05);
  if (!little) limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_AS, &limit);
  testing::wait_until([little] { return host_memory_shortage().empty() != little; },
                      "a look at the memory that is newer than the limit");
}

// Run by the test below, in a process of its own.
TEST_CASE("with little memory", "[.little_memory]") {
  if (!std::getenv("DISTRIBUTE_TEST_LITTLE_MEMORY")) SKIP("run by the next test");
  const auto mapped = Dataset::range(400).map([](const Batch& b) { return b; });
  const auto shuffled = mapped.shuffle(200, {.seed = 6});
  const auto take = [](Iterator& it, size_t count) {
    Numbers numbers;
    for (size_t i = 0; i < count; ++i)
      if (const auto element = it.get_next_as_optional())
        numbers.push_back(element->x.item<int64_t>());
    return numbers;
  };
  Iterator it = shuffled.iterator();
  Numbers got = take(it, 50);  // with all of the buffer
  leave_little_memory(true);
  for (const int64_t number : take(it, 200)) got.push_back(number);
  leave_little_memory(false);
  const Tensor position = it.state();
  const Numbers rest = take(it, 400);
  got.insert(got.end(), rest.begin(), rest.end());
  CHECK(sorted(got) == count_up(0, 400));  // nothing is lost
  CHECK(got != scalars_of(mapped.shuffle(200, {.seed = 6})));
  // A buffer of 16 cannot give an element 16 places early, one of 200 does. What it held before it
  // shrank comes first.
  int64_t earliest = 0;
  for (size_t i = 250; i < got.size(); ++i) earliest = std::max(earliest, got[i] - int64_t(i));
  CHECK(earliest < 16);
  Iterator again = shuffled.iterator();
  again.restore(position);
  CHECK(take(again, 400) == rest);

  // Numbers of rows take no memory; what is prepared ahead comes in the same order.
  const auto same = [](const Batch& b) { return b; };
  const auto prepared = Dataset::range(100).map(same, {.num_parallel_calls = 4}).prefetch(8);
  Iterator ahead = prepared.iterator(),
           rows = Dataset::range(400).shuffle(200, {.seed = 6}).iterator();
  Numbers in_order = take(ahead, 1);  // starts the threads
  leave_little_memory(true);
  const Numbers rest_in_order = take(ahead, 100), order = take(rows, 400);
  leave_little_memory(false);
  in_order.insert(in_order.end(), rest_in_order.begin(), rest_in_order.end());
  CHECK(in_order == count_up(0, 100));
  CHECK(order == scalars_of(Dataset::range(400).shuffle(200, {.seed = 6})));
}

TEST_CASE("a shuffle holds fewer elements where memory runs out", "[data][shuffle]") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DISTRIBUTE_TEST_LITTLE_MEMORY", "1", 1);
    ::execl("/proc/self/exe", "test", "[.little_memory]", nullptr);
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
