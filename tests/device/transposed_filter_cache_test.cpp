// Which filters one launch turns, who may take them, and when what waits is dropped.
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_transpose.hpp>
#include <distribute/device/dtype.hpp>

#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"

#include <bit>
#include <span>

using namespace distribute;
using device_internal::FilterMatrix;
using device_internal::transposed_filter_cache;
using testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};
std::vector<size_t> launches;  // how many matrices each has turned

std::vector<Array> turn(std::span<const FilterMatrix> matrices) {
  launches.push_back(matrices.size());
  return cuda_transpose_all(matrices);
}

/// A GPU with some filters, and what was launched since the last look.
struct Filters {
  explicit Filters(size_t count = 3) {
    launches.clear();
    for (size_t i = 0; i < count; ++i) all.push_back(make_array(24, kGpu));
  }
  Array ask(size_t i, DType dtype = DType::BFloat16, int64_t rows = 3) {
    return transposed_filter_cache(kGpu).transposed({all[i], dtype, rows, 6 / rows}, turn);
  }
  void pass() {
    for (size_t i = 0; i < all.size(); ++i) ask(i);
  }
  long holders(size_t i) const { return all[i].buffer.use_count(); }

  FakeCuda gpu{{.runs_kernels = false}};
  std::vector<Array> all;
};

using Launches = std::vector<size_t>;

Launches taken() { return std::exchange(launches, {}); }

}  // namespace

TEST_CASE("filters of the last pass are turned by one launch",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass();
  CHECK(taken() == Launches{1, 1, 1});
  for (int i = 0; i < 3; ++i) {
    filters.pass();
    CHECK(taken() == Launches{3});
  }
  transposed_filter_cache(kGpu).end_pass();
  filters.pass();
  CHECK(taken() == Launches{3});
  CHECK(filters.holders(1) == 1);
}

TEST_CASE("a pass may begin with any filter and leave some", "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.ask(1);
  CHECK(taken() == Launches{3});
  filters.ask(1);  // taken already
  filters.ask(1);
  CHECK(taken() == Launches{1, 1});
  filters.ask(0);
  CHECK(taken().empty());
  transposed_filter_cache(kGpu).end_pass();
  filters.ask(0);
  CHECK(taken() == Launches{3});
}

TEST_CASE("filters that wait are held, so that no writer writes in place",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.ask(0);
  CHECK(filters.holders(0) == 1);
  CHECK(filters.holders(2) == 2);
  filters.ask(2);
  CHECK(filters.holders(2) == 1);
  transposed_filter_cache(kGpu).end_pass();
  CHECK(filters.holders(1) == 1);
}

TEST_CASE("memory of what waits is given back with the cache's",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.ask(0);
  release_cached_memory(kGpu);
  CHECK(filters.holders(2) == 1);
  CHECK(memory_info(kGpu).current == 3 * 512);
}

TEST_CASE("a filter that was replaced or is gone is turned by no other's launch",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.all[1] = make_array(24, kGpu);  // as an assignment does
  filters.pass();
  CHECK(taken() == Launches{2, 1});
  filters.ask(0);
  filters.all[2] = make_array(24, kGpu);  // in the middle of a pass
  filters.ask(1), filters.ask(2);
  CHECK(taken() == Launches{3, 1});
}

TEST_CASE("filters that two passes have not asked for are forgotten",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  for (const Launches& wanted : {Launches{3}, Launches{3}, Launches{2}}) {
    filters.ask(0), filters.ask(1);
    transposed_filter_cache(kGpu).end_pass();
    CHECK(taken() == wanted);
  }
  filters.pass();
  CHECK(taken() == Launches{2, 1});
}

TEST_CASE("one buffer in two shapes or types is two filters", "[device][transposed_filter_cache]") {
  Filters filters(1);
  const auto ask_all = [&] {
    filters.ask(0);
    filters.ask(0, DType::Float16);
    filters.ask(0, DType::Float32);
    filters.ask(0, DType::BFloat16, 2);
  };
  ask_all();
  CHECK(taken() == Launches{1, 1, 1, 1});
  filters.gpu.forget_calls();
  ask_all();
  CHECK(taken() == Launches{4});
  CHECK(filters.gpu.count("launch transpose_matrices") == 3);  // one for each type
  CHECK(filters.ask(0, DType::Float32).buffer->bytes() == 24);
}

TEST_CASE("filters that come again and again do not hold the others for ever",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  for (int i = 0; i < 200; ++i) filters.ask(0);
  size_t turned = 0;
  for (size_t matrices : taken()) turned += matrices;
  CHECK(turned < 200 + 2 * 3 * 3);  // now and then all, in vain
  filters.all.push_back(make_array(24, kGpu));
  filters.pass(), transposed_filter_cache(kGpu).end_pass(), taken();
  filters.pass();
  CHECK(taken() == Launches{4});
}

TEST_CASE("a pass belongs to one thread and another one's filters are turned alone",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.ask(0);
  std::thread([&] { filters.pass(); }).join();
  CHECK(taken() == Launches{3, 1, 1, 1});
  filters.ask(1), filters.ask(2);
  CHECK(taken().empty());
  std::thread([&] { filters.pass(); }).join();  // it may have the next one
  CHECK(taken() == Launches{3});
}

TEST_CASE("filters on other streams than the computing one are turned alone",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  const CudaStream other(kGpu);
  const CudaStreamScope scope(other);
  filters.pass(), filters.pass();
  CHECK(taken() == Launches(6, 1));
}

TEST_CASE("nothing that waits crosses the begin, the end or a launch of a recording",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.ask(0);
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    CHECK(filters.holders(1) == 1);
    taken();
    filters.pass();  // one launch of its own
    CHECK(taken() == Launches{3});
    filters.ask(0);
    taken();
  });
  filters.ask(1);
  CHECK(taken() == Launches{3});
  graph.launch();
  filters.ask(0);
  CHECK(taken() == Launches{2});  // without the one that only the recording has asked for
}

TEST_CASE("a graph keeps filters that its launch reads and its work has not asked for",
          "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  std::optional<CudaGraph> graph = CudaGraph::capture(kGpu, [&] {
    filters.ask(0);
    transposed_filter_cache(kGpu).end_pass();
    CHECK(filters.holders(1) == 2);
    transposed_filter_cache(kGpu).let_go(filters.all[1]);  // it is a variable of the step
    CHECK(filters.holders(1) == 1);
  });
  CHECK(filters.holders(0) == 1);
  CHECK(filters.holders(1) == 1);
  CHECK(filters.holders(2) == 2);
  filters.all[2] = {};
  graph->launch();  // the fake looks whether all memory is there
  graph.reset();
}

TEST_CASE("a recording that fails leaves nothing that waits", "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  const auto fails = [&] {
    filters.ask(0);
    throw FailedPreconditionError("not recorded");
  };
  CHECK_THROWS_AS(CudaGraph::capture(kGpu, fails), FailedPreconditionError);
  CHECK(filters.holders(1) == 1);
  taken();
  filters.pass();
  CHECK(taken() == Launches{3});
}

TEST_CASE("a launch that fails leaves nothing that waits", "[device][transposed_filter_cache]") {
  Filters filters;
  filters.pass(), taken();
  filters.gpu.fail_next("launch transpose_matrices", 719);
  CHECK_THROWS_AS(filters.ask(0), InternalError);
  CHECK(filters.holders(1) == 1);
  filters.pass();
  CHECK(taken() == Launches{3, 3});
}

TEST_CASE("whatever is asked for and written, each call gives the values of its moment",
          "[device][transposed_filter_cache]") {
  const FakeCuda gpu;
  std::mt19937 random(5);
  const auto below = [&](unsigned end) { return random() % end; };
  std::vector<Array> all(7);
  std::vector<float> values(all.size());
  const auto write = [&](size_t i) {  // in place when the variable is its only holder
    if (!all[i].buffer || all[i].buffer.use_count() > 1) all[i] = make_array(24, kGpu);
    values[i] = float(below(1000));
    fill_elements(all[i].bytes(), kGpu, 4, std::bit_cast<uint32_t>(values[i]), 6);
  };
  const auto ask = [&](size_t i) {
    const DType dtype = below(4) ? DType::Float32 : DType::BFloat16;
    const Array turned = transposed_filter_cache(kGpu).transposed({all[i], dtype, 2, 3}, turn);
    if (dtype != DType::Float32) return;
    float got[6];
    copy_bytes(got, Device{}, turned.bytes(), kGpu, sizeof got);
    for (float value : got) REQUIRE(value == values[i]);
  };
  for (size_t i = 0; i < all.size(); ++i) write(i);
  for (int action = 0; action < 4000; ++action) {
    const unsigned kind = below(40);
    if (kind < 4)
      write(below(unsigned(all.size())));
    else if (kind == 4)
      transposed_filter_cache(kGpu).end_pass();
    else if (kind == 5)
      for (size_t i = 0; i < all.size(); ++i) ask(i);
    else
      ask(below(unsigned(all.size())));
  }
}
