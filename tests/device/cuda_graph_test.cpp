// Recording and replaying on the fake driver, and that the fake is as strict as the real one.
#include <distribute/device/detail/cuda_graph.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/tensor.hpp>

#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"
#include "../support/check_throws.hpp"

#include <bit>

using namespace distribute;
using testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

/// The one number in a block of the fake's memory.
float number_at(const void* data) {
  float value = 0;
  FakeCuda::with_memory([&] { value = *static_cast<const float*>(data); });
  return value;
}
void fill_with(void* data, float value) {
  fill_elements(data, kGpu, 4, std::bit_cast<uint32_t>(value), 1);
}

/// A capture in the driver's own terms, on a stream of its own.
struct RawCapture {
  RawCapture() { CHECK(begin() == kCudaSuccess); }
  CudaResult begin() { return cuda.cuStreamBeginCapture(stream.ref().native(), 2); }
  CudaResult end() {
    const CudaResult result = cuda.cuStreamEndCapture(stream.ref().native(), &graph);
    CHECK((result == kCudaSuccess) == (graph != nullptr));
    return result;
  }
  int status(const CudaStream& of) {
    int value = -1;
    CHECK(cuda.cuStreamIsCapturing(of.ref().native(), &value) == kCudaSuccess);
    return value;
  }
  CudaResult launch() {
    CudaHandle executable = nullptr;
    CHECK(cuda.cuGraphInstantiateWithFlags(&executable, graph, 0) == kCudaSuccess);
    const CudaResult result = cuda.cuGraphLaunch(executable, stream.ref().native());
    CHECK(cuda.cuGraphExecDestroy(executable) == kCudaSuccess);
    return result;
  }

  const GpuGuard guard{kGpu};
  const CudaDriver& cuda = cuda_driver();
  const CudaStream stream{kGpu}, other{kGpu};
  const CudaEvent event{kGpu}, joined{kGpu};
  CudaHandle graph = nullptr;
};

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
  CHECK_THROWS_SAYING(CudaGraph::capture(kGpu, [] {}), FailedPreconditionError,
                      "/device:GPU:0 cannot be recorded");
  fake.fail_next("cuGraphInstantiate", 2);
  CHECK_THROWS_AS(CudaGraph::capture(kGpu, [] {}), ResourceExhaustedError);
  CHECK(fake.count("cuGraphDestroy") == 2);
  CHECK(fake.count("cuGraphExecDestroy") == 0);
}

TEST_CASE("a graph does its work at every launch, and not before", "[device][cuda_graph]") {
  FakeCuda fake;
  const Buffer from(4, kGpu), to(4, kGpu);
  fill_with(from.data(), 1);
  fill_with(to.data(), 7);
  const Tensor x(Tensor(3.0f).to(kGpu));
  Tensor sum;
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    copy_bytes(to.data(), kGpu, from.data(), kGpu, 4);
    fill_with(from.data(), 5);
    sum = x + x;  // a kernel whose arguments are gone when it runs
  });
  CHECK(number_at(to.data()) == 7);
  CHECK(number_at(from.data()) == 1);
  graph.launch();
  CHECK(number_at(to.data()) == 1);
  CHECK(number_at(from.data()) == 5);
  CHECK(sum.to_vector() == std::vector<float>{6});
  graph.launch();
  CHECK(number_at(to.data()) == 5);
}

TEST_CASE("what a recording does on other threads' streams is not part of it",
          "[device][cuda_graph]") {
  FakeCuda fake;
  const Buffer block(4, kGpu);
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    std::thread([&] { fill_with(block.data(), 4); }).join();
    CHECK(number_at(block.data()) == 4);
  });
  fill_with(block.data(), 6);
  graph.launch();
  CHECK(number_at(block.data()) == 6);
}

TEST_CASE("host memory is neither read nor written in a recording", "[device][cuda_graph]") {
  FakeCuda fake;
  const Tensor x = Tensor{1.0f, 2.0f}.to(kGpu), y{3.0f, 4.0f};
  const auto refused = [](const std::function<void()>& work, const char* why) {
    CHECK_THROWS_SAYING(CudaGraph::capture(kGpu, work), FailedPreconditionError, why);
  };
  refused([&] { x.to_vector(); }, "8 bytes are read from /device:GPU:0 by the host");
  refused([&] { y.to(kGpu); }, "8 bytes are sent to /device:GPU:0 by the host");
  refused([&] { CudaGraph::capture(kGpu, [] {}); }, "is being recorded");
  CHECK(x.to_vector() == std::vector<float>{1, 2});
  refused([&] { x.to_vector(); }, "8 bytes are read");  // although the host has read it before
}

TEST_CASE("the fake's capture reads host memory when it is launched", "[device][fake_capture]") {
  FakeCuda fake;
  const Buffer block(4, kGpu);
  RawCapture capture;
  float value = 1;
  CHECK(capture.cuda.cuMemcpyHtoDAsync(cuda_address(block.data()), &value, 4,
                                       capture.stream.ref().native()) == kCudaSuccess);
  CHECK(capture.end() == kCudaSuccess);
  value = 9;
  CHECK(capture.launch() == kCudaSuccess);
  CHECK(number_at(block.data()) == 9);
}

TEST_CASE("the fake refuses what the driver refuses in a capture", "[device][fake_capture]") {
  FakeCuda fake;
  const Buffer block(4, kGpu);
  using Call = std::function<CudaResult(RawCapture&)>;
  struct Refused {
    const char* what;
    CudaResult result;
    Call call;
  };
  const auto recorded = [](RawCapture& c) {
    CHECK(c.cuda.cuEventRecord(c.event.ref().native(), c.stream.ref().native()) == kCudaSuccess);
    return c.event.ref().native();
  };
  const std::vector<Refused> all{
      {"wait for the stream", 900,
       [](RawCapture& c) { return c.cuda.cuStreamSynchronize(c.stream.ref().native()); }},
      {"ask the stream", 900,
       [](RawCapture& c) { return c.cuda.cuStreamQuery(c.stream.ref().native()); }},
      {"wait for the context", 900, [](RawCapture& c) { return c.cuda.cuCtxSynchronize(); }},
      {"wait for an event of it", 907,
       [=](RawCapture& c) { return c.cuda.cuEventSynchronize(recorded(c)); }},
      {"ask an event of it", 907, [=](RawCapture& c) { return c.cuda.cuEventQuery(recorded(c)); }},
      {"make it wait for work outside", 905,
       [](RawCapture& c) {
         c.event.record(c.other);
         return c.cuda.cuStreamWaitEvent(c.stream.ref().native(), c.event.ref().native(), 0);
       }},
      {"end it from a stream that joined", 903,
       [=](RawCapture& c) {
         CHECK(c.cuda.cuStreamWaitEvent(c.other.ref().native(), recorded(c), 0) == kCudaSuccess);
         return c.cuda.cuStreamEndCapture(c.other.ref().native(), &c.graph);
       }},
  };
  for (const Refused& one : all) {
    INFO(one.what);
    RawCapture capture;
    CHECK(capture.status(capture.stream) == 1);
    CHECK(one.call(capture) == one.result);
    CHECK(capture.status(capture.stream) == 2);
    // From then on everything fails, until the capture is ended.
    CHECK(capture.cuda.cuMemsetD32Async(cuda_address(block.data()), 0, 1,
                                        capture.stream.ref().native()) == 901);
    CHECK(capture.end() == 901);
    CHECK(capture.status(capture.stream) == 0);
    CHECK(capture.cuda.cuStreamSynchronize(capture.stream.ref().native()) == kCudaSuccess);
    CHECK(capture.begin() == kCudaSuccess);
    CHECK(capture.end() == kCudaSuccess);
  }
  RawCapture capture;
  CHECK(capture.begin() == 401);
  CHECK(capture.cuda.cuStreamEndCapture(capture.other.ref().native(), &capture.graph) == 401);
  CHECK(capture.end() == kCudaSuccess);
}

TEST_CASE("the fake's strict captures allow no allocation", "[device][fake_capture]") {
  FakeCuda fake;
  for (const int mode : {0, 1, 2}) {
    RawCapture capture;
    CHECK(capture.end() == kCudaSuccess);
    CHECK(capture.cuda.cuStreamBeginCapture(capture.stream.ref().native(), mode) == kCudaSuccess);
    CudaAddress address = 0;
    CHECK(capture.cuda.cuMemAlloc(&address, 512) == (mode == 2 ? kCudaSuccess : 900));
    CHECK(capture.end() == (mode == 2 ? kCudaSuccess : 901));
  }
}

TEST_CASE("streams join the fake's capture through events", "[device][fake_capture]") {
  FakeCuda fake;
  const Buffer first(4, kGpu), second(4, kGpu);
  const bool joins = GENERATE(true, false);
  RawCapture capture;
  const auto fill = [&](const Buffer& block, uint32_t value, const CudaStream& stream) {
    return capture.cuda.cuMemsetD32Async(cuda_address(block.data()), value, 1,
                                         stream.ref().native());
  };
  CHECK(fill(first, std::bit_cast<uint32_t>(1.0f), capture.stream) == kCudaSuccess);
  capture.event.record(capture.stream);
  capture.other.ref().wait(capture.event);
  CHECK(capture.status(capture.other) == 1);
  CHECK(fill(second, std::bit_cast<uint32_t>(2.0f), capture.other) == kCudaSuccess);
  CHECK(number_at(second.data()) != 2);
  capture.joined.record(capture.other);
  if (joins) capture.stream.ref().wait(capture.joined);
  CHECK(capture.end() == (joins ? kCudaSuccess : 904));
  CHECK(capture.status(capture.other) == 0);
  if (!joins) return;
  CHECK(capture.launch() == kCudaSuccess);
  CHECK(number_at(first.data()) == 1);
  CHECK(number_at(second.data()) == 2);
}

TEST_CASE("the fake notices that a graph's memory is gone", "[device][fake_capture]") {
  FakeCuda fake;
  RawCapture capture;
  CudaAddress address = 0;
  CHECK(capture.cuda.cuMemAlloc(&address, 512) == kCudaSuccess);
  CHECK(capture.cuda.cuMemsetD32Async(address, 1, 1, capture.stream.ref().native()) ==
        kCudaSuccess);
  CHECK(capture.end() == kCudaSuccess);
  CHECK(capture.launch() == kCudaSuccess);
  CHECK(capture.cuda.cuMemFree(address) == kCudaSuccess);
  CHECK(capture.launch() == 700);
  CudaAddress again = 0;  // another block at the same place is not the one that was recorded
  CHECK(capture.cuda.cuMemAlloc(&again, 512) == kCudaSuccess);
  CHECK(again == address);
  CHECK(capture.launch() == 700);
}

TEST_CASE("the fake notices that memory of a kernel's arguments is gone",
          "[device][fake_capture]") {
  FakeCuda fake;
  Tensor x = Tensor{1.0f, 2.0f}.to(kGpu);
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] { x + x; });
  graph.launch();
  x = Tensor();
  release_cached_memory(kGpu);
  CHECK_THROWS_AS(graph.launch(), Error);
}
