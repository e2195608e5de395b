// What a recorded step gives its launches: numbers, counts, and the places of variables.
#include <distribute/autograd/detail/recorded_step.hpp>

#include <distribute/autograd/variable.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/math.hpp>

#include "../support/catch.hpp"
#include "../support/fake_cuda.hpp"

using namespace distribute;
using testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

uint64_t number_at(const uint64_t* place) {
  uint64_t value = 0;
  FakeCuda::with_memory([&] { value = *place; });
  return value;
}

}  // namespace

TEST_CASE("every launch writes its numbers and counts itself", "[autograd][recorded_step]") {
  FakeCuda fake;
  uint64_t next = 5;
  int launches = 0;
  std::vector<const uint64_t*> places;
  RecordedStep step(kGpu, [&] {
    RecordedStep& recording = *RecordedStep::current();
    for (int i = 0; i < 300; ++i)  // more than one kernel takes
      places.push_back(recording.numbers<uint64_t>([&, i] { return next + uint64_t(i); }));
    recording.after_launch([&] { ++launches; });
  });
  CHECK(RecordedStep::current() == nullptr);
  CHECK(launches == 0);
  for (int launch = 1; launch <= 2; ++launch) {
    step.launch();
    CHECK(launches == launch);
    for (size_t i = 0; i < places.size(); ++i) REQUIRE(number_at(places[i]) == next + i);
    next = 1000;
  }
  CHECK(fake.count("launch store_numbers") == 6);
  CHECK_THROWS_AS(
      RecordedStep(kGpu,
                   [&] {
                     for (int i = 0; i < 5000; ++i)
                       RecordedStep::current()->numbers<uint64_t>([] { return uint64_t{0}; });
                   }),
      FailedPreconditionError);
}

TEST_CASE("a recorded step writes variables where they are", "[autograd][recorded_step]") {
  FakeCuda fake;
  const Variable v(Tensor{1.0f, 2.0f}.to(kGpu));
  const void* const place = v.value().array().bytes();
  const DeviceScope scope(kGpu);
  RecordedStep step(kGpu, [&] {
    v.assign(v.value() * 2.0f);
    v.assign(v.value() + 1.0f);
  });
  CHECK(v.value().array().bytes() == place);
  CHECK(v.value().to_vector() == std::vector<float>{1, 2});
  step.launch();
  CHECK(v.value().to_vector() == std::vector<float>{3, 5});
  step.launch();
  CHECK(v.value().to_vector() == std::vector<float>{7, 11});
  CHECK(v.value().array().bytes() == place);
  CHECK(step.outdated() == "");
  CHECK_FALSE(step.writes_what_others_hold());
  {
    const Tensor held = v.value();
    CHECK(step.writes_what_others_hold());
  }
  v.assign(Tensor{0.0f, 0.0f}.to(kGpu));
  CHECK(step.outdated() == "variable 'Variable' was assigned outside of the recorded step");
}

TEST_CASE("a recording that fails gives the variables back", "[autograd][recorded_step]") {
  FakeCuda fake;
  const DeviceScope scope(kGpu);
  const Variable v(Tensor{1.0f, 2.0f}.to(kGpu)), host(Tensor(3.0f));
  const auto failing = [&](const std::function<void()>& step) {
    CHECK_THROWS_AS(RecordedStep(kGpu, step), FailedPreconditionError);
    CHECK(RecordedStep::current() == nullptr);
    CHECK(v.value().to_vector() == std::vector<float>{1, 2});
    CHECK(host.value().item<float>() == 3);
  };
  failing([&] {
    v.assign(v.value() * 2.0f);
    throw FailedPreconditionError("mine");
  });
  failing([&] {
    v.assign(v.value() * 2.0f);
    host.assign(Tensor(4.0f));
  });
  failing([&] {
    v.assign(v.value() * 2.0f);
    RecordedStep inner(kGpu, [] {});
  });
  failing([&] { v.value().to_vector(); });  // although the host has read the same before
}

TEST_CASE("a paused recording does not notice what is read", "[autograd][recorded_step]") {
  FakeCuda fake;
  const Variable read(Tensor(1.0f)), paused(Tensor(1.0f));
  RecordedStep step(kGpu, [&] {
    read.value();
    const RecordedStep::Pause pause;
    CHECK(RecordedStep::current() == nullptr);
    paused.value();
  });
  paused.assign(Tensor(2.0f));
  CHECK(step.outdated() == "");
  read.assign(Tensor(2.0f));
  CHECK(step.outdated() == "variable 'Variable', which the step reads in host memory, has changed");
}
