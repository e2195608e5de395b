#include <distribute/parameter_server/detail/stored_variable.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/parameter_server/ps_support.hpp>

#include <atomic>
#include <thread>

using namespace ps_test;
using namespace distribute;
using parameter_server::apply_update;
using parameter_server::kPieceBytes;
using parameter_server::SharedArena;
using parameter_server::StoredUpdate;
using parameter_server::StoredVariable;

namespace {

/// w -= g, written slowly enough that a reader would see it half done.
UpdateKernel minus() {
  return [](size_t, float* w, float* const*, const float* g, int64_t count) {
    for (int64_t i = 0; i < count; ++i) w[i] -= g[i];
  };
}

bool all_equal(std::span<const float> values) {
  for (const float value : values)
    if (value != values[0]) return false;
  return true;
}

std::span<const float> floats(const std::byte* data, int64_t count) {
  return {reinterpret_cast<const float*>(data), size_t(count)};
}

}  // namespace

TEST_CASE("readers never see half an update", "[parameter_server][stored_variable]") {
  const int64_t size = 200'000;
  const auto arena = GENERATE(true, false) ? SharedArena::create() : nullptr;
  StoredVariable variable("w", {size}, DType::Float32, arena);
  variable.fill(1);
  const std::vector<float> minus_one(size_t(size), -1);
  std::atomic<int> writers{2}, torn{0};
  std::atomic<int64_t> seen{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; ++w)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        apply_update({.variable = &variable, .gradient = minus_one.data()}, minus(), true);
      --writers;
    });
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&] {
      while (writers > 0) {
        const auto snapshot = variable.snapshot();
        torn += !all_equal(floats(snapshot.data(), size));
        std::this_thread::yield();
        torn += !all_equal(floats(snapshot.data(), size));  // and it stays what it was
        ++seen;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(torn == 0);
  CHECK(seen > 0);
  CHECK(floats(variable.snapshot().data(), size)[0] == 201);
  CHECK(variable.version() == 202);
}

TEST_CASE("pieces of a variable that is written in place are whole",
          "[parameter_server][stored_variable]") {
  const int64_t size = 3 * kPieceBytes / 4 + 1000;
  StoredVariable variable("w", {size, 1}, DType::Float32, nullptr);
  variable.fill(0);
  const std::vector<int64_t> none;
  apply_update({.variable = &variable, .rows = none, .sparse = true}, minus(), true);
  REQUIRE_FALSE(variable.has_snapshots());
  const std::vector<float> minus_one(size_t(size), -1);
  std::atomic<bool> writing{true};
  std::atomic<int> torn{0};
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i)
      apply_update({.variable = &variable, .gradient = minus_one.data()}, minus(), true);
    writing = false;
  });
  std::vector<std::byte> piece(static_cast<size_t>(kPieceBytes));
  for (int i = 0; writing || i < 3; ++i) {
    variable.read((i % 3) * kPieceBytes, piece);
    torn += !all_equal(floats(piece.data(), kPieceBytes / 4));
  }
  writer.join();
  CHECK(torn == 0);
}

TEST_CASE("rows of a sparse update are whole", "[parameter_server][stored_variable]") {
  const int64_t width = 512;
  StoredVariable variable("table", {100, width}, DType::Float32, nullptr);
  StoredVariable slot("table/m", {100, width}, DType::Float32, nullptr);
  variable.fill(0);
  slot.fill(0);
  const std::vector<int64_t> rows = {3, 99, 0, 3};
  const std::vector<float> values(size_t(4 * width), -1);
  const UpdateKernel both = [](size_t, float* w, float* const* s, const float* g, int64_t count) {
    for (int64_t i = 0; i < count; ++i) w[i] -= g[i], s[0][i] += 1;
  };
  std::atomic<int> writers{2}, torn{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; ++w)
    threads.emplace_back([&] {
      const StoredUpdate update{&variable, {&slot}, 0, values.data(), rows, true};
      for (int i = 0; i < 500; ++i) apply_update(update, both, true);
      --writers;
    });
  const std::vector<int64_t> wanted = {3, 99, 50};
  std::vector<float> got(size_t(3 * width));
  while (writers > 0) {
    variable.gather(wanted, std::as_writable_bytes(std::span(got)).data());
    for (size_t row = 0; row < 3; ++row)
      torn += !all_equal(std::span(got).subspan(row * size_t(width), size_t(width)));
  }
  for (auto& thread : threads) thread.join();
  CHECK(torn == 0);
  variable.gather(wanted, std::as_writable_bytes(std::span(got)).data());
  CHECK(got[0] == 2000);  // twice in each of 1,000 updates
  CHECK(got[size_t(width)] == 1000);
  CHECK(got[size_t(2 * width)] == 0);
  slot.gather(wanted, std::as_writable_bytes(std::span(got)).data());
  CHECK(got[0] == 1000);  // each row once
}

TEST_CASE("a snapshot outlives the turn to updates in place",
          "[parameter_server][stored_variable]") {
  StoredVariable variable("table", {4, 2}, DType::Float32, SharedArena::create());
  variable.fill(5);
  const auto before = variable.snapshot();
  const std::vector<int64_t> rows = {1};
  const std::vector<float> values = {1, 1};
  apply_update({&variable, {}, 0, values.data(), rows, true}, minus(), true);
  CHECK(floats(before.data(), 8)[2] == 5);
  std::vector<float> now(8);
  variable.read(0, std::as_writable_bytes(std::span(now)));
  CHECK(now[2] == 4);
  CHECK(now[4] == 5);
}

TEST_CASE("without locking updates go into the same memory",
          "[parameter_server][stored_variable]") {
  StoredVariable variable("w", {100}, DType::Float32, nullptr);
  variable.fill(0);
  const std::vector<float> minus_one(100, -1);
  const auto reader = variable.snapshot();
  apply_update({.variable = &variable, .gradient = minus_one.data()}, minus(), false);
  CHECK(floats(reader.data(), 100)[99] == 1);  // seen by a reader at that time
  apply_update({.variable = &variable, .gradient = minus_one.data()}, minus(), true);
  CHECK(floats(reader.data(), 100)[99] == 1);
  CHECK(floats(variable.snapshot().data(), 100)[0] == 2);
}

TEST_CASE("blocks are used again", "[parameter_server][stored_variable]") {
  const auto arena = SharedArena::create(int64_t{1} << 20);
  StoredVariable variable("w", {50'000}, DType::Float32, arena);  // the arena has room for five
  variable.fill(1);
  for (int i = 0; i < 100; ++i) {
    const auto snapshot = variable.snapshot();
    REQUIRE(snapshot.offset() >= 0);
    variable.fill(i);
    REQUIRE(variable.snapshot().offset() != snapshot.offset());
  }
}
