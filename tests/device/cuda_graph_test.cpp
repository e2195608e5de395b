// Recording and replaying on the fake driver, which counts the calls; it does run the work of a
// recording, unlike a real one.
#include <distribute/device/cuda_graph.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/cuda_device.hpp>

#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace distribute;
using distribute::testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

}  // namespace

TEST_CASE("work is recorded once and launched as one", "[device][cuda_graph]") {
  FakeCuda fake;
  int calls = 0;
  {
    const CudaGraph graph = CudaGraph::capture(kGpu, [&] { ++calls; });
    fake.forget_calls();
    for (int i = 0; i < 3; ++i) graph.launch();
    CHECK(calls == 1);
    CHECK(fake.count("cuGraphLaunch") == 3);
    CHECK(fake.count("cuStreamBeginCapture") == 0);
    CHECK(fake.count("cuGraphExecDestroy") == 0);
  }
  CHECK(fake.count("cuGraphExecDestroy") == 1);
}

TEST_CASE("memory of a graph belongs to it alone, until it is gone", "[device][cuda_graph]") {
  FakeCuda fake;
  { const Buffer cached(1000, kGpu); }
  const int64_t before = fake.allocated_bytes();
  void* inside = nullptr;
  auto graph = std::make_unique<CudaGraph>(CudaGraph::capture(kGpu, [&] {
    const Buffer first(1000, kGpu);  // not the cached block, which others may get
    inside = first.data();
  }));
  CHECK(fake.allocated_bytes() > before);
  const Buffer outside(1000, kGpu), more(1000, kGpu);
  CHECK(outside.data() != inside);
  CHECK(more.data() != inside);
  const int64_t with_graph = fake.allocated_bytes();
  graph.reset();
  CHECK(fake.allocated_bytes() < with_graph);
}

TEST_CASE("what a recording lets go of stays with its graph", "[device][cuda_graph]") {
  FakeCuda fake;
  auto replaced = std::make_unique<Buffer>(1000, kGpu);
  const void* place = replaced->data();
  auto graph = std::make_unique<CudaGraph>(CudaGraph::capture(kGpu, [&] { replaced.reset(); }));
  CHECK(Buffer(1000, kGpu).data() != place);  // which every launch reads
  graph.reset();
  const Buffer first(1000, kGpu), second(1000, kGpu);
  CHECK((first.data() == place || second.data() == place));
  CHECK(fake.count("cuMemAlloc") == 2);
}

TEST_CASE("a recording that runs out of memory keeps what it has used", "[device][cuda_graph]") {
  FakeCuda fake({.memory_bytes = 2 << 20});
  { const Buffer cached(600 << 10, kGpu); }
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    { const Buffer used(600 << 10, kGpu); }
    release_cached_memory(kGpu);
    CHECK(fake.count("cuMemFree") == 1);  // the block from before
    CHECK_THROWS_AS(Buffer(1800 << 10, kGpu), ResourceExhaustedError);
    CHECK(fake.count("cuMemFree") == 1);
  });
  const Buffer fits(1000 << 10, kGpu);
}

TEST_CASE("a recording that cannot be is told, and nothing is left open", "[device][cuda_graph]") {
  FakeCuda fake;
  CHECK_THROWS_AS(CudaGraph::capture(kGpu, [] { throw std::runtime_error("mine"); }),
                  std::runtime_error);
  CHECK(fake.count("cuStreamEndCapture") == 1);
  CHECK(fake.count("cuGraphDestroy") == 1);

  fake.fail_next("cuStreamEndCapture", 901);
  try {
    CudaGraph::capture(kGpu, [] {});
    FAIL("no error");
  } catch (const FailedPreconditionError& error) {
    CHECK(std::string(error.what()).find("/device:GPU:0 cannot be recorded") != std::string::npos);
  }
  fake.fail_next("cuGraphInstantiate", 2);
  CHECK_THROWS_AS(CudaGraph::capture(kGpu, [] {}), ResourceExhaustedError);
  CHECK(fake.count("cuGraphDestroy") == 2);
  CHECK(fake.count("cuGraphExecDestroy") == 0);
}

TEST_CASE("a step runs plainly, is recorded, then replayed", "[device][cuda_graph]") {
  FakeCuda fake;
  int calls = 0;
  CapturedStep step(kGpu, [&] { ++calls; });
  step.run();
  step.run();
  CHECK((calls == 2 && !step.is_captured() && fake.count("cuGraphLaunch") == 0));
  step.run();
  CHECK((calls == 3 && step.is_captured() && fake.count("cuGraphLaunch") == 1));
  for (int i = 0; i < 5; ++i) step.run();
  CHECK((calls == 3 && fake.count("cuGraphLaunch") == 6));
}
