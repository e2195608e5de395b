#include <distribute/collective/detail/flight_recorder.hpp>

#include <tests/support/catch.hpp>

#include <thread>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;
using State = FlightRecorder::State;

namespace {

Operation all_reduce_of(int64_t count, uint64_t sequence) {
  return {
      .kind = Collective::AllReduce, .dtype = DType::Float32, .count = count, .sequence = sequence};
}

}  // namespace

TEST_CASE("the recorder keeps the last thousand operations", "[collective][flight_recorder]") {
  FlightRecorder recorder;
  for (uint64_t i = 1; i <= 2500; ++i) {
    const uint64_t number = recorder.queue(all_reduce_of(int64_t(i), i));
    recorder.start(number);
    recorder.end(number, false);
  }
  const auto records = recorder.records();
  REQUIRE(records.size() == 1000);
  CHECK(records.front().signature.sequence == 1501);
  CHECK(records.back().signature.sequence == 2500);
  CHECK(records.back().bytes == 10'000);
  CHECK(records.back().state == State::Done);
  CHECK(records.back().queued <= records.back().started);
  CHECK(records.back().started <= records.back().ended);
}

TEST_CASE("a record that was pushed out is not touched any more", "[collective][flight_recorder]") {
  FlightRecorder recorder(2);
  const uint64_t old = recorder.queue(all_reduce_of(1, 1));
  recorder.queue(all_reduce_of(2, 2));
  recorder.queue(all_reduce_of(3, 3));
  recorder.start(old);
  recorder.end(old, true);
  for (const auto& record : recorder.records()) CHECK(record.state == State::Queued);
}

TEST_CASE("the position says where the rank stands", "[collective][flight_recorder]") {
  FlightRecorder recorder;
  CHECK(recorder.position() == "before the first collective");
  const uint64_t first = recorder.queue(all_reduce_of(1000, 12));
  CHECK(recorder.position() == "before the first collective");
  recorder.start(first);
  const uint64_t second = recorder.queue(all_reduce_of(5, 13));
  CHECK_THAT(recorder.position(), Contains("in all_reduce(sum) #12 float32 x 1000 for "));
  recorder.end(first, false);
  CHECK_THAT(recorder.position(), Contains("after all_reduce(sum) #12 float32 x 1000 ended "));
  recorder.start(second);
  recorder.end(second, true);
  CHECK_THAT(recorder.position(), Contains("failed in all_reduce(sum) #13"));
}

TEST_CASE("the table shows the last lines", "[collective][flight_recorder]") {
  FlightRecorder recorder;
  for (uint64_t i = 1; i <= 5; ++i) recorder.queue(all_reduce_of(7, i));
  const std::string table = recorder.table(2);
  CHECK_THAT(table, !Contains("#3"));
  CHECK_THAT(table, Contains("#4 float32 x 7") && Contains("#5") && Contains("queued") &&
                        Contains("28 bytes"));
  CHECK(std::count(table.begin(), table.end(), '\n') == 2);
  CHECK(recorder.table(100).size() > table.size());
}

TEST_CASE("threads may record at once", "[collective][flight_recorder]") {
  FlightRecorder recorder(50);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t number = recorder.queue(all_reduce_of(1, i));
        recorder.start(number);
        recorder.end(number, false);
        if (i % 100 == 0) recorder.table(10);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& record : recorder.records()) CHECK(record.state == State::Done);
}
