// Host arrays on their way to a fake GPU: values, and which calls were made in which order.
#include <distribute/device/detail/cuda_feed.hpp>

#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"

using namespace distribute;
using testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

std::vector<int> numbers(size_t count, int first) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::shared_ptr<Buffer> copy(CudaFeed& feed, const std::vector<int>& values) {
  return feed.copy(values.data(), int64_t(values.size() * sizeof(int)));
}

std::vector<int> on_host(const Buffer& buffer) {
  std::vector<int> values(size_t(buffer.bytes()) / sizeof(int));
  copy_bytes(values.data(), Device{}, buffer.data(), buffer.device(), buffer.bytes());
  return values;
}

}  // namespace

TEST_CASE("a feed copies arrays of any length", "[device][cuda_feed]") {
  const FakeCuda fake;
  CudaFeed feed(kGpu);
  for (size_t count : {size_t{1}, size_t{1000}, size_t{3'000'000}, size_t{7'000'001}}) {
    const auto values = numbers(count, int(count));
    const auto buffer = copy(feed, values);
    CHECK(buffer->device() == kGpu);
    CHECK(on_host(*buffer) == values);
  }
  CHECK(feed.copy(nullptr, 0)->bytes() == 0);
}

TEST_CASE("a feed's copies are of page-locked memory and overlap their preparation",
          "[device][cuda_feed]") {
  FakeCuda fake;
  CudaFeed feed(kGpu);
  CHECK(fake.count("cuMemHostAlloc") == 2);
  const auto first = copy(feed, numbers(5'000'000, 0));  // 20 MB: pieces of 8, 8 and 4 MiB
  CHECK(fake.count("cuMemcpyHtoDAsync") == 3);
  CHECK(fake.count("cuMemHostAlloc") == 2);
  // The third piece waits for the first; the host for all of them once, at the end.
  CHECK(fake.count("cuEventSynchronize") == 1);
  CHECK(fake.count("cuStreamSynchronize") == 1);
}

TEST_CASE("a feed uses a block again when it is not held", "[device][cuda_feed]") {
  FakeCuda fake;
  CudaFeed feed(kGpu);
  auto first = copy(feed, numbers(1000, 1));
  auto second = copy(feed, numbers(1000, 2));
  CHECK(first->data() != second->data());
  CHECK(on_host(*first) == numbers(1000, 1));
  const void* const place = first->data();
  first.reset();
  fake.forget_calls();
  const auto third = copy(feed, numbers(900, 3));
  CHECK(third->data() == place);
  const auto calls = fake.calls();
  const auto at = [&](const char* call) {
    return std::find(calls.begin(), calls.end(), call) - calls.begin();
  };
  CHECK(at("cuStreamWaitEvent") < at("cuMemcpyHtoDAsync"));  // the last use of the block
  CHECK(on_host(*second) == numbers(1000, 2));
  const auto small = copy(feed, numbers(10, 4));
  CHECK(small->data() != place);
}

TEST_CASE("buffers may outlive their feed", "[device][cuda_feed]") {
  FakeCuda fake;
  std::shared_ptr<Buffer> buffer;
  {
    CudaFeed feed(kGpu);
    buffer = copy(feed, numbers(1000, 7));
  }
  CHECK(on_host(*buffer) == numbers(1000, 7));
}

TEST_CASE("a copy that fails is an error, and the feed goes on", "[device][cuda_feed]") {
  FakeCuda fake;
  CudaFeed feed(kGpu);
  fake.fail_next("cuMemcpyHtoDAsync", 1);
  CHECK_THROWS_WITH(copy(feed, numbers(1000, 1)), Contains("cuMemcpyHtoDAsync"));
  CHECK(on_host(*copy(feed, numbers(1000, 2))) == numbers(1000, 2));
}
