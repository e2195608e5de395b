#include <distribute/device/buffer.hpp>

#include <distribute/base/error.hpp>

#include "../support/catch.hpp"
#include "../support/control_group.hpp"

using namespace distribute;

TEST_CASE("blocks are aligned for vectors, whatever their size", "[device][buffer]") {
  for (int64_t bytes : {0, 1, 63, 65, 1000, 4096, 100000, (2 << 20) + 1, 5 << 20}) {
    const Buffer buffer(bytes, Device{});
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.bytes() == bytes);
    std::memset(buffer.data(), 1, size_t(bytes));
  }
}

TEST_CASE("a freed block is handed out again", "[device][buffer]") {
  release_cached_memory(Device{});
  auto first = std::make_unique<Buffer>(12345, Device{});
  void* const block = first->data();
  first.reset();
  const Buffer second(12345, Device{});
  CHECK(second.data() == block);
}

TEST_CASE("memory statistics follow the buffers", "[device][buffer]") {
  release_cached_memory(Device{});
  const MemoryInfo before = memory_info(Device{});
  CHECK(before.cached == 0);
  constexpr int64_t kBytes = 1000000;
  {
    const Buffer buffer(kBytes, Device{});
    const MemoryInfo during = memory_info(Device{});
    CHECK(during.current - before.current >= kBytes);
    CHECK(during.current - before.current <= kBytes * 5 / 4);
    CHECK(during.peak >= during.current);
  }
  const MemoryInfo after = memory_info(Device{});
  CHECK(after.current == before.current);
  CHECK(after.cached >= kBytes);
  release_cached_memory(Device{});
  CHECK(memory_info(Device{}).cached == 0);
}

TEST_CASE("a block is at most a quarter larger than what was asked for", "[device][buffer]") {
  for (int64_t bytes = 257; bytes < (int64_t{1} << 24); bytes += bytes / 7) {
    const int64_t before = memory_info(Device{}).current;
    const Buffer buffer(bytes, Device{});
    const int64_t block = memory_info(Device{}).current - before;
    CHECK(block >= bytes);
    CHECK(block <= bytes + bytes / 4 + 64);
  }
  release_cached_memory(Device{});
}

TEST_CASE("foreign memory is released once, by its owner", "[device][buffer]") {
  int released = 0;
  float values[4] = {};
  {
    const Buffer buffer(values, sizeof(values), Device{}, [&] { ++released; });
    CHECK(buffer.data() == values);
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("threads share the cache without sharing blocks", "[device][buffer]") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 500; ++i) {
        const Buffer buffer(64 + i % 7 * 100, Device{});
        std::memset(buffer.data(), t, size_t(buffer.bytes()));
        const auto* bytes = static_cast<const unsigned char*>(buffer.data());
        for (int64_t k = 0; k < buffer.bytes(); ++k) wrong[size_t(t)] += bytes[k] != t;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a device that this build lacks is named", "[device][buffer]") {
  CHECK_THROWS_WITH(Buffer(1, Device{DeviceType::Gpu, 1}),
                    StartsWith("/device:GPU:1 does not exist"));
}

// Run by the test below, in a process that has its limit from the start.
TEST_CASE("in a container with little memory", "[.limited_memory]") {
  if (!std::getenv("DISTRIBUTE_TEST_IN_CONTAINER")) SKIP("run by the next test");
  std::vector<std::unique_ptr<Buffer>> buffers;
  const auto allocate = [&](int64_t bytes) {
    buffers.push_back(std::make_unique<Buffer>(bytes, Device{}));
    std::memset(buffers.back()->data(), 1, size_t(bytes));
  };
  for (int i = 0; i < 6; ++i) allocate(32 << 20);
  buffers.clear();  // the cache has 192 MiB, which do not fit beside what comes
  allocate(200 << 20);
  std::string message;
  try {
    for (int i = 0; i < 16; ++i) allocate(48 << 20);
  } catch (const ResourceExhaustedError& error) {
    message = error.what();
  }
  CHECK_THAT(message, Contains("48 MiB wanted"));
  CHECK_THAT(message, Contains(" of 384 MiB are in use (/sys/fs/cgroup/"));
  CHECK_THAT(message, Contains("the largest 200 MiB"));
  buffers.clear();
  allocate(100 << 20);  // the process goes on
}

TEST_CASE("memory that the container's limit has no room for is refused", "[device][buffer]") {
  const ControlGroup group("memory", "memory.limit_in_bytes", "memory.max");
  if (!group.why_not().empty()) SKIP("" + group.why_not());
  group.limit(std::to_string(384 << 20));
  CHECK(group.run([] {
    // AddressSanitizer would keep freed memory.
    ::setenv("ASAN_OPTIONS", "quarantine_size_mb=0:allocator_release_to_os_interval_ms=0", 1);
    ::setenv("DISTRIBUTE_TEST_IN_CONTAINER", "1", 1);
    ::execl("/proc/self/exe", "test", "[.limited_memory]", nullptr);
    return 1;
  }) == 0);
}
