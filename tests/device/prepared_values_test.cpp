#include <distribute/device/detail/prepared_values.hpp>

#include <distribute/base/parallel.hpp>

#include <tests/support/catch.hpp>

#include <barrier>

using namespace distribute;
using namespace distribute::device_internal;

namespace {

constexpr int64_t kPieces = 64;

Array elements() {
  Array array = make_array(kPieces * 4, Device{});
  for (int64_t i = 0; i < kPieces; ++i) array.data<float>()[i] = float(i);
  return array;
}

/// Doubles every element, and counts the pieces that were computed.
Preparation doubled(const Array& from, std::atomic<int>& made, const char* name = "doubled") {
  return {name, {kPieces, 1}, kPieces * 4, kPieces, [&made, from](char* to, int64_t piece) {
            reinterpret_cast<float*>(to)[piece] = 2 * from.data<float>()[piece];
            ++made;
          }};
}

bool is_doubled(const Array& result, const Array& from) {
  for (int64_t i = 0; i < kPieces; ++i)
    if (result.data<float>()[i] != 2 * from.data<float>()[i]) return false;
  return true;
}

}  // namespace

TEST_CASE("elements that are not kept are prepared for every call", "[device][prepared_values]") {
  const Array source = elements();
  std::atomic<int> made = 0;
  CHECK(is_doubled(prepared(source, doubled(source, made)), source));
  CHECK(is_doubled(prepared(source, doubled(source, made)), source));
  CHECK(made == 2 * kPieces);
}

TEST_CASE("kept elements are prepared once until they change", "[device][prepared_values]") {
  const Array source = elements();
  std::atomic<int> made = 0;
  keep_prepared(source);
  const Array first = prepared(source, doubled(source, made));
  CHECK(prepared(source, doubled(source, made)).buffer == first.buffer);
  keep_prepared(source);  // again: nothing changes
  CHECK(prepared(source, doubled(source, made)).buffer == first.buffer);
  CHECK(made == kPieces);
  Array part = source;
  part.offset_bytes = 64;
  std::atomic<int> of_part = 0;
  CHECK(prepared(part, doubled(source, of_part)).buffer != first.buffer);
  CHECK(prepared(source, doubled(source, of_part, "another name")).buffer != first.buffer);
  CHECK(of_part == 2 * kPieces);

  forget_prepared(source);
  source.data<float>()[3] = 100;
  const Array second = prepared(source, doubled(source, made));
  CHECK(is_doubled(second, source));
  CHECK(first.data<float>()[3] == 6);  // the holder of the old one keeps it
  CHECK(made == 2 * kPieces);
}

TEST_CASE("an address that comes again is not taken for the old elements",
          "[device][prepared_values]") {
  std::atomic<int> made = 0;
  std::vector<float> memory(kPieces, 1.0f);
  for (int round = 1; round <= 200; ++round) {  // more than the table keeps of dead buffers
    memory.assign(kPieces, float(round));
    const Array source{std::make_shared<Buffer>(memory.data(), kPieces * 4, Device{}, [] {}), 0,
                       nullptr};
    keep_prepared(source);
    REQUIRE(is_doubled(prepared(source, doubled(source, made)), source));
    REQUIRE(made == round * kPieces);
  }
}

TEST_CASE("threads that come together share the pieces", "[device][prepared_values]") {
  constexpr int kThreads = 4, kRounds = 50;
  const Array source = elements();
  keep_prepared(source);
  std::atomic<int> made = 0, wrong = 0;
  std::barrier together(kThreads);
  const auto run = [&](int thread) {
    set_intra_op_threads(1);
    for (int round = 0; round < kRounds; ++round) {
      together.arrive_and_wait();
      if (thread == 0) {
        forget_prepared(source);
        source.data<float>()[0] = float(round);
      }
      together.arrive_and_wait();
      if (!is_doubled(prepared(source, doubled(source, made)), source)) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(run, t);
  const int before = intra_op_threads();
  run(0);
  set_intra_op_threads(before);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(made == kRounds * kPieces);
}
