// Replicas of one process share what convolutions make of a mirrored variable.
#include <distribute/device/detail/cpu_winograd.hpp>
#include <distribute/device/detail/prepared_values.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/gradient_check.hpp>
#include <tests/support/same_bits.hpp>

#include <cstring>
#include <vector>

using namespace distribute;

namespace {

constexpr int64_t kChannels = 16, kBatch = 4;

Conv2DShape shape_here() {
  Conv2DShape s;
  s.batch = kBatch;
  s.in = s.out = {8, 8};
  s.in_channels = s.out_channels = kChannels;
  s.kernel = {5, 5};
  s.pad_before = s.pad_after = {2, 2};
  return s;
}

Tensor images() { return test_tensor({kBatch, 8, 8, kChannels}, 1); }

/// The result and the image's gradient of a convolution with these filters.
std::vector<float> both_passes(const Tensor& filters) {
  const Tensor x = images();
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::conv2d(x, filters, {.padding = Padding::Same});
  std::vector<float> all = y.to_vector();
  const std::vector<float> dx = tape.gradient(reduce_sum(y), x).to_vector();
  all.insert(all.end(), dx.begin(), dx.end());
  return all;
}

/// On every replica, twice: the variable's filters give the bits that a tensor of its own gives.
void check_bits(Strategy& strategy, const Variable& v) {
  const auto equal = strategy.run([&] {
    const Tensor value = v.value();
    const Tensor own(value.shape(), value.to_vector());
    const auto expected = both_passes(own);
    return same_bits(both_passes(value), expected) && same_bits(both_passes(value), expected);
  });
  for (const bool one : equal.values()) CHECK(one);
}

}  // namespace

TEST_CASE("filters prepared for all replicas follow the variable", "[strategy][prepared_values]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v(test_tensor({5, 5, kChannels, kChannels}, 2), {.name = "filters"});
  optim::SGD optimizer({.learning_rate = 0.1f});
  const auto step = [&] {
    strategy.run([&] {
      GradientTape tape;
      const Tensor y = nn::conv2d(images(), v.value(), {.padding = Padding::Same});
      return optimizer.minimize(reduce_sum(y), {v}, tape);
    });
  };
  check_bits(strategy, v);
  for (int i = 0; i < 3; ++i) {
    step();  // in place, in the same memory from the second on
    check_bits(strategy, v);
  }
  v.assign(test_tensor({5, 5, kChannels, kChannels}, 3));
  check_bits(strategy, v);
  step();
  v.assign_add(test_tensor({5, 5, kChannels, kChannels}, 4));
  check_bits(strategy, v);
  step();
  v.impl().set_component(1, test_tensor({5, 5, kChannels, kChannels}, 5));  // as restoring does
  check_bits(strategy, v);
}

TEST_CASE("filters are transformed once for all replicas", "[strategy][prepared_values]") {
  if (!winograd_suits(shape_here())) SKIP("this machine's convolutions prepare nothing");
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v(test_tensor({5, 5, kChannels, kChannels}, 2), {.name = "filters"});
  optim::SGD optimizer({.learning_rate = 0.1f});
  strategy.run([&] {
    GradientTape tape;
    return optimizer.minimize(reduce_sum(v.value()), {v}, tape);
  });
  const auto pieces_left = [&](const char* name) {
    int64_t made = 0;
    device_internal::prepared(v.value().array(), {name,
                                                  {kChannels, kChannels},
                                                  64 * kChannels * kChannels * 4,
                                                  kChannels / 8,
                                                  [&](char*, int64_t) { ++made; }});
    return made;
  };
  strategy.run([&] { return both_passes(v.value()).size(); });
  CHECK(pieces_left("winograd filters") == 0);
  CHECK(pieces_left("turned winograd filters") == 0);
  CHECK(pieces_left("something else") == kChannels / 8);
}
