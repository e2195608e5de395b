// What GPUs do, as spans of a recorder, with a CUPTI that is a part of this program.
#include <distribute/device/detail/cuda_activity.hpp>

#include <distribute/device/detail/cuda_device.hpp>

#include "../support/catch.hpp"
#include "../support/caught_log.hpp"
#include "../support/fake_cuda.hpp"
#include "../support/fake_cupti.hpp"

using namespace distribute;
using namespace distribute::device_internal;
using namespace distribute::testing;
using Clock = monitoring::SpanRecorder::Clock;

namespace {

struct Spans final : monitoring::SpanRecorder {
  struct Span {
    std::string row, name;
    Clock::time_point begin, end;
  };
  int add_row(std::string name) override {
    return rows.push_back(std::move(name)), int(rows.size()) - 1;
  }
  void add(int row, std::string name, Clock::time_point begin, Clock::time_point end) override {
    all.push_back({rows[size_t(row)], std::move(name), begin, end});
  }
  void save_alone(const std::string&) const override {}
  std::vector<std::string> rows;
  std::vector<Span> all;
};

/// The distance of two times in milliseconds.
double apart(Clock::time_point a, Clock::time_point b) {
  return std::abs(std::chrono::duration<double, std::milli>(a - b).count());
}

}  // namespace

TEST_CASE("what GPUs do becomes spans of a row for each stream, on the host's clock",
          "[device][cuda_activity]") {
  const FakeCuda cuda({.gpus = 2});
  const ScopedCupti scoped(FakeCupti::table());
  const auto spans = std::make_shared<Spans>();
  record_gpus(spans);
  CHECK(FakeCupti::kinds ==
        std::vector<int>{kCuptiKernel, kCuptiMemcpy, kCuptiPeerCopy, kCuptiMemset});
  const auto now = Clock::now();
  const auto at = [&](int microseconds) { return now + std::chrono::microseconds(microseconds); };
  FakeCupti::kernels = {cupti_kernel("_ZN7cutlass6KernelILi3EEEvi", at(50), 20, 13),
                        cupti_kernel("relu", at(10), 30, 13), cupti_kernel("add", at(20), 5, 13)};
  CuptiKernel under_way = cupti_kernel("late", at(90), 1, 13);
  under_way.end = 0;
  FakeCupti::kernels.push_back(under_way);
  FakeCupti::memory = {cupti_memory(kCuptiMemcpy, kCuptiToGpu, at(0), 4096),
                       cupti_memory(kCuptiMemcpy, kCuptiFromGpu, at(2), 4),
                       cupti_memory(kCuptiMemcpy, kCuptiOnGpu, at(4), 8),
                       cupti_memory(kCuptiMemset, 0, at(6), 16),
                       cupti_memory(kCuptiPeerCopy, kCuptiBetweenGpus, at(8), 32)};
  flush_gpu_spans();
  CHECK(spans->rows ==
        std::vector<std::string>{"GPU 0 stream 7", "GPU 1 stream 13", "GPU 1 stream 13 (2)"});
  std::vector<std::string> found;
  for (const auto& span : spans->all) found.push_back(span.row + ": " + span.name);
  CHECK(found == std::vector<std::string>{
                     "GPU 0 stream 7: copy to the GPU, 4096 bytes",
                     "GPU 0 stream 7: copy from the GPU, 4 bytes",
                     "GPU 0 stream 7: copy on the GPU, 8 bytes", "GPU 0 stream 7: fill, 16 bytes",
                     "GPU 0 stream 7: copy between GPUs, 32 bytes", "GPU 1 stream 13: relu",
                     "GPU 1 stream 13 (2): add", "GPU 1 stream 13: void cutlass::Kernel<3>(int)"});
  REQUIRE(spans->all.size() == 8);
  CHECK(spans->all[5].end - spans->all[5].begin == std::chrono::microseconds(30));
  CHECK(spans->all[5].begin - spans->all[0].begin == std::chrono::microseconds(10));
  CHECK(apart(spans->all[0].begin, now) < 50);  // three hours without the clocks' distance
}

TEST_CASE("a CUPTI that refuses is one line of the log", "[device][cuda_activity]") {
  const FakeCuda cuda;
  CuptiTable table = FakeCupti::table();
  FakeCupti::result = 35;
  const ScopedCupti scoped(table);
  CaughtLog log;
  const auto spans = std::make_shared<Spans>();
  for (int i = 0; i < 2; ++i) record_gpus(spans);
  flush_gpu_spans();
  CHECK(spans->all.empty());
  const std::string why =
      "DISTRIBUTE_TIMELINE has no rows of GPUs: CUPTI: cuptiActivityEnable gave 35: "
      "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
  CHECK(std::count_if(log.lines.begin(), log.lines.end(), [&](const std::string& line) {
          return line.find(why) != std::string::npos;
        }) == 1);
}

TEST_CASE("a recorder that is gone gets nothing, and the next one its own rows",
          "[device][cuda_activity]") {
  const FakeCuda cuda;
  const ScopedCupti scoped(FakeCupti::table());
  auto first = std::make_shared<Spans>();
  record_gpus(first);
  first.reset();
  FakeCupti::kernels = {cupti_kernel("lost", Clock::now(), 1, 1)};
  flush_gpu_spans();
  const auto second = std::make_shared<Spans>();
  record_gpus(second);
  CHECK(FakeCupti::kinds.size() == 4);  // asked for once
  FakeCupti::kernels = {cupti_kernel("found", Clock::now(), 1, 1)};
  flush_gpu_spans();
  REQUIRE(second->all.size() == 1);
  CHECK(second->all[0].name == "found");
}
