// Elements on fake GPUs: the same in the same order, each on its device; positions fit both ways.
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/device/detail/cuda_device.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_cuda.hpp>

using namespace distribute;
using data::Dataset;
using testing::FakeCuda;
using Values = std::vector<float>;

namespace {

const std::vector<Device> kGpus{{DeviceType::Gpu, 0}, {DeviceType::Gpu, 1}, {DeviceType::Gpu, 2}};

Dataset fetched(const Dataset& dataset) {
  return Dataset(data::fetch_to_gpus_node(dataset.node(), kGpus));
}

Dataset batches() { return Dataset::range(20).shuffle(8, {.seed = 3}).batch(3); }

}  // namespace

TEST_CASE("with nothing ready ahead an element is made and copied when it is asked for",
          "[data][gpu_fetch]") {
  const FakeCuda cuda({.gpus = 3});
  int made = 0;
  const Dataset counted = Dataset::range(6).batch(1).map(
      [&made](const data::Batch& batch) {
        ++made;
        return batch;
      },
      {.output_spec = data::ElementSpec{{{-1}, DType::Int64}}});
  auto it = Dataset(data::fetch_to_gpus_node(counted.node(), kGpus, false)).iterator();
  for (int i = 0; i < 6; ++i) {
    const data::Batch batch = it.next();
    CHECK(made == i + 1);
    CHECK(batch.x.device() == kGpus[size_t(i % 3)]);
    CHECK(batch.x.to(Device{}).data<int64_t>()[0] == i);
  }
  CHECK_FALSE(it.get_next_as_optional());
}

TEST_CASE("elements go to the devices in turn", "[data][gpu_fetch]") {
  const FakeCuda cuda({.gpus = 3});
  const Dataset plain = Dataset::from_tensor_slices(
                            Tensor{1.0f, 2.0f, 3.0f, 4.0f, 5.0f},
                            Tensor{int64_t{6}, int64_t{7}, int64_t{8}, int64_t{9}, int64_t{10}})
                            .batch(2);
  CHECK(fetched(plain).cardinality() == 3);
  size_t number = 0;
  for (const data::Batch& batch : fetched(plain)) {
    CHECK(batch.x.device() == kGpus[number]);
    CHECK(batch.y.device() == kGpus[number]);
    CHECK(batch.x.shape() == Shape{number == 2 ? 1 : 2});
    CHECK(batch.x.to_vector()[0] == 1.0f + 2.0f * float(number));
    CHECK(batch.y.to(Device{}).data<int64_t>()[0] == 6 + 2 * int64_t(number));
    ++number;
  }
  CHECK(number == 3);
}

TEST_CASE("a position saved with GPUs fits without, and the other way round", "[data][gpu_fetch]") {
  const FakeCuda cuda({.gpus = 3});
  const auto rest_of = [](data::Iterator it) {
    std::vector<Values> all;
    while (const auto batch = it.get_next_as_optional()) all.push_back(batch->x.to_vector());
    return all;
  };
  const auto iterator_after = [](const Dataset& dataset, int steps) {
    data::Iterator it = dataset.iterator();
    for (int i = 0; i < steps; ++i) it.get_next_as_optional();
    return it;
  };
  const Dataset host = batches(), gpu = fetched(batches());
  data::Iterator on_host = iterator_after(host, 3), on_gpu = iterator_after(gpu, 3);
  const Tensor host_state = on_host.state(), gpu_state = on_gpu.state();
  const auto want = rest_of(std::move(on_host));
  CHECK(want.size() == 4);
  CHECK(rest_of(std::move(on_gpu)) == want);
  data::Iterator from_gpu = batches().iterator();
  from_gpu.restore(gpu_state);
  CHECK(rest_of(std::move(from_gpu)) == want);
  data::Iterator from_host = fetched(batches()).iterator();
  from_host.restore(host_state);
  CHECK(rest_of(std::move(from_host)) == want);
}

TEST_CASE("an error comes out at its element", "[data][gpu_fetch]") {
  const FakeCuda cuda({.gpus = 3});
  const Dataset bad = Dataset::range(6).map([](const data::Batch& b) {
    if (b.x.to_vector()[0] == 4) throw std::runtime_error("a bad picture");
    return b;
  });
  data::Iterator it = fetched(bad).iterator();
  for (int i = 0; i < 4; ++i) CHECK(it.get_next_as_optional()->x.to_vector() == Values{float(i)});
  CHECK_THROWS_WITH(it.get_next_as_optional(), Contains("a bad picture"));
}

TEST_CASE("a batch that is the same memory each time stays on its GPU", "[data][gpu_fetch]") {
  const FakeCuda cuda;
  const std::vector<Device> gpu{kGpus[0]};
  const auto copies_of = [&](const Dataset& dataset, const std::vector<Values>& expected) {
    data::Iterator it = Dataset(data::fetch_to_gpus_node(dataset.node(), gpu, false)).iterator();
    const int before = cuda.count("cuMemcpyHtoDAsync");
    for (const Values& values : expected) CHECK(it.next().x.to_vector() == values);
    return cuda.count("cuMemcpyHtoDAsync") - before;
  };
  const Dataset numbers = Dataset::from_tensor_slices(Tensor{1.0f, 2.0f, 3.0f, 4.0f});
  const Values all{1, 2, 3, 4}, first{1, 2}, last{3, 4};
  CHECK(copies_of(numbers.repeat().batch(4), {all, all, all, all, all}) == 2);
  CHECK(copies_of(numbers.repeat().batch(2), {first, last, first, last}) == 4);
}
