// Networks whose filters are turned by one launch a pass: the bits of filters that are turned when
// their convolution comes, whatever happens between the convolutions of a pass.
#include <distribute/device/detail/filter_book.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "../support/fake_blas.hpp"
#include "../support/fake_cudnn.hpp"
#include "../support/fake_nccl.hpp"
#include "../support/gpu_contract.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace distribute::testing;
using distribute::Device;
using distribute::DeviceType;
using distribute::DType;
using distribute::PerReplica;
using distribute::Shape;
using distribute::Tensor;
using distribute::Variable;
namespace nn = distribute::nn;

#if DISTRIBUTE_HAS_CUDNN

namespace {

struct Gpus {
  explicit Gpus(int count = 1) : cuda({.gpus = count}) {}
  FakeCuda cuda;
  distribute::collective::ScopedNccl nccl{FakeNccl::table()};
  distribute::ScopedCudaBlas blas{FakeBlas::table()};
  distribute::cudnn_internal::ScopedCudnn dnn{FakeCudnn::table()};
};

/// What happens before a convolution of a pass.
using Event = std::function<void(size_t convolution)>;

/// Three convolutions in bfloat16 and one in float32.
struct Network {
  Network() {
    const Shape shapes[] = {{3, 3, 4, 8}, {3, 3, 8, 8}, {1, 1, 8, 4}, {2, 2, 4, 3}};
    for (const Shape& shape : shapes)
      filters.emplace_back(contract_numbers(shape, filters.size() + 1, 0.3f));
  }
  Tensor operator()(const Tensor& x, const Event& before = {}, size_t convolutions = 4) const {
    Tensor h = distribute::cast(x, DType::BFloat16);
    for (size_t i = 0; i < convolutions; ++i) {
      if (before) before(i);
      if (i == 3) h = distribute::cast(h, DType::Float32);
      h = nn::conv2d(h, filters[i].value());
    }
    return distribute::cast(h, DType::Float32);
  }
  std::vector<Variable> filters;
};

Tensor images(uint64_t step, int replica = 0) {
  return contract_numbers({2, 7, 7, 4}, step * 8 + uint64_t(replica) + 1);
}

void forget_what_waits() {
  distribute::device_internal::filter_book(distribute::current_device()).end_pass();
}

/// A network trained on GPUs. `apart`: no convolution finds what an earlier one had turned for it.
struct Training {
  Training(bool apart, bool records, int replicas = 1)
      : apart(apart), recorded(records), replicas(replicas) {
    const auto scope = strategy.scope();
    network = std::make_unique<Network>();
    optimizer = std::make_unique<distribute::optim::SGD>(
        distribute::optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9});
  }
  Tensor forward(const Tensor& x, size_t convolutions = 4) {
    const auto before = [this](size_t convolution) {
      if (event) event(convolution);
      if (apart) forget_what_waits();
    };
    return (*network)(x, before, convolutions);
  }
  Tensor step(const Tensor& x) {
    distribute::GradientTape tape;
    Tensor y = forward(x);
    if (second_pass > 0) y = y * distribute::reduce_mean(forward(x * 0.5f, second_pass));
    const Tensor loss = distribute::reduce_mean(y * y);
    optimizer->minimize(loss, network->filters, tape);
    return loss;
  }
  void run(uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      std::vector<Tensor> parts;
      for (int r = 0; r < replicas; ++r) parts.push_back(images(i, r));
      const PerReplica<Tensor> batch(std::move(parts));
      add(recorded ? strategy.run(function, batch)
                   : strategy.run([this](const Tensor& x) { return step(x); }, batch));
    }
  }
  void evaluate() {
    add(strategy.run([this](const Tensor& x) { return forward(x); }, images(99)));
  }
  void add(const PerReplica<Tensor>& values) {
    for (const Tensor& value : values.values()) results.push_back(value.to(Device{}));
  }
  /// What was computed, and every copy of the filters.
  std::vector<std::vector<float>> all() const {
    std::vector<std::vector<float>> all;
    for (const Tensor& result : results) all.push_back(result.to_vector());
    for (const Variable& variable : network->filters)
      for (int r = 0; r < replicas; ++r) all.push_back(variable.impl().component(r).to_vector());
    return all;
  }
  std::vector<const char*> places() const {
    std::vector<const char*> places;
    for (const Variable& variable : network->filters)
      places.push_back(variable.impl().component(0).array().bytes());
    return places;
  }

  const bool apart, recorded;
  const int replicas;
  size_t second_pass = 0;  // how many convolutions come twice in a step
  Event event;
  distribute::MirroredStrategy<distribute::GpuDevice> strategy;
  std::unique_ptr<Network> network;
  std::unique_ptr<distribute::optim::SGD> optimizer;
  distribute::Function<std::function<Tensor(const Tensor&)>> function{
      [this](const Tensor& x) { return step(x); }};
  std::vector<Tensor> results;
};

/// `story` gives the same bits with filters turned ahead and apart.
void check_same_bits(const std::function<void(Training&)>& story, bool records = false,
                     int replicas = 1) {
  std::vector<std::vector<float>> got[2];
  for (const bool apart : {true, false}) {
    const Gpus gpus(replicas);
    Training training(apart, records, replicas);
    story(training);
    got[apart] = training.all();
  }
  CHECK(got[0] == got[1]);
}

}  // namespace

TEST_CASE("a step turns all its filters by one launch for each type", "[strategy][gpu_filters]") {
  Gpus gpus;
  Training training(false, false);
  training.run(0, 1);
  const auto places = training.places();
  gpus.cuda.forget_calls();
  training.run(1, 4);
  CHECK(gpus.cuda.count("launch transpose_matrices") == 3 * 2);
  CHECK(gpus.cuda.count("launch transpose_matrix") == 3 * 4);  // the gradients
  CHECK(training.places() == places);                          // updated where they are
}

TEST_CASE("a recorded step has one launch for all filters of a type", "[strategy][gpu_filters]") {
  Gpus gpus;
  Training training(false, true);
  training.run(0, 2);
  CHECK(training.function.launches() == 0);
  gpus.cuda.forget_calls();
  training.run(2, 6);
  CHECK(training.function.problem() == "");
  CHECK(training.function.launches() == 4);
  CHECK(gpus.cuda.count("launch transpose_matrices") == 2);
  CHECK(gpus.cuda.count("launch transpose_matrix") == 4);
}

TEST_CASE("steps have the bits of filters that are turned apart", "[strategy][gpu_filters]") {
  for (const bool records : {false, true})
    for (const int replicas : {1, 2}) {
      INFO((records ? "recorded, " : "plain, ") << replicas << " replicas");
      check_same_bits(
          [&](Training& training) {
            training.run(0, 6);
            CHECK(training.function.launches() == (records ? 4 : 0));
          },
          records, replicas);
    }
}

TEST_CASE("a recorded step has the bits of a plain one", "[strategy][gpu_filters]") {
  std::vector<std::vector<float>> got[2];
  for (const bool records : {false, true}) {
    const Gpus gpus(2);
    Training training(false, records, 2);
    training.run(0, 6);
    got[records] = training.all();
  }
  CHECK(got[0] == got[1]);
}

TEST_CASE("a filter that is assigned between two convolutions of a pass has its new value",
          "[strategy][gpu_filters]") {
  check_same_bits([](Training& training) {
    training.run(0, 2);
    training.event = [&](size_t convolution) {
      if (convolution == 1) training.network->filters[2].assign(contract_numbers({1, 1, 8, 4}, 77));
    };
    training.evaluate();
    training.run(2, 4);
    training.event = {};
    training.run(4, 6);
  });
}

TEST_CASE("a pass that an exception ends leaves steps as they are", "[strategy][gpu_filters]") {
  for (const bool records : {false, true})
    check_same_bits(
        [](Training& training) {
          training.run(0, 3);
          training.event = [](size_t convolution) {
            if (convolution == 2) throw std::runtime_error("in the middle");
          };
          CHECK_THROWS_AS(training.evaluate(), std::runtime_error);
          training.event = {};
          training.run(3, 5);
          CHECK(training.function.launches() == (training.recorded ? 3 : 0));
          training.evaluate();
        },
        records);
}

TEST_CASE("filters that come twice in a step, all and some", "[strategy][gpu_filters]") {
  for (const bool records : {false, true})
    for (const size_t second_pass : {4u, 2u}) {
      INFO((records ? "recorded, " : "plain, ") << second_pass << " come twice");
      check_same_bits(
          [&](Training& training) {
            training.second_pass = second_pass;
            training.run(0, 6);
            CHECK(training.function.launches() == (records ? 4 : 0));
          },
          records);
    }
}

TEST_CASE("what waits does not keep an update from its place", "[strategy][gpu_filters]") {
  Gpus gpus;
  Training training(false, false);
  training.second_pass = 2;  // the other two are turned in vain
  training.run(0, 1);
  const auto places = training.places();
  gpus.cuda.forget_calls();
  training.run(1, 4);
  CHECK(training.places() == places);
  CHECK(gpus.cuda.count("launch transpose_matrices") == 3 * 2 * 2);
}

TEST_CASE("recorded steps that train parts of a network in turn are launched",
          "[strategy][gpu_filters]") {
  check_same_bits(
      [](Training& training) {
        const std::vector<Variable> all = training.network->filters;
        const auto step = [&](size_t first, const Tensor& x) {
          distribute::GradientTape tape;
          const Tensor y = training.forward(x);
          // The passes' last launch turns filters in vain that the other step trains.
          const Tensor factor = distribute::reduce_mean(training.forward(x, 2));
          const Tensor loss = distribute::reduce_mean(y * y) * factor;
          training.optimizer->minimize(loss, {all[first], all[first + 1]}, tape);
          return loss;
        };
        distribute::Function<std::function<Tensor(const Tensor&)>> steps[] = {
            distribute::Function<std::function<Tensor(const Tensor&)>>(
                [&](const Tensor& x) { return step(0, x); }),
            distribute::Function<std::function<Tensor(const Tensor&)>>(
                [&](const Tensor& x) { return step(2, x); })};
        for (uint64_t i = 0; i < 6; ++i)
          for (auto& one : steps) training.add(training.strategy.run(one, images(i)));
        for (auto& one : steps) {
          CHECK(one.problem() == "");
          CHECK(one.launches() == 4);
        }
      },
      true);
}

TEST_CASE("evaluation between steps, of all filters and of some", "[strategy][gpu_filters]") {
  for (const bool records : {false, true})
    check_same_bits(
        [](Training& training) {
          for (uint64_t i = 0; i < 5; ++i) {
            training.run(i, i + 1);
            training.evaluate();
            training.add(training.strategy.run(
                [&](const Tensor& x) { return (*training.network)(x, {}, 2); }, images(50)));
          }
        },
        records);
}

TEST_CASE("a recorded step lives on when filters that it has turned in vain are gone",
          "[strategy][gpu_filters]") {
  check_same_bits(
      [](Training& training) {
        training.run(0, 2);
        {
          const auto scope = training.strategy.scope();
          const Network other;
          training.add(training.strategy.run([&](const Tensor& x) { return other(x); }, images(7)));
          training.run(2, 4);
        }
        CHECK(training.function.launches() == 2);
        training.run(4, 6);
        CHECK(training.function.launches() == 4);
      },
      true);
}

TEST_CASE("two threads on one GPU have the bits of one after the other",
          "[strategy][gpu_filters]") {
  std::vector<std::vector<float>> got[2];
  for (const bool together : {false, true}) {
    const Gpus gpus;
    Training training(false, false);
    const auto scope = training.strategy.scope();
    const Network other;
    std::vector<float> evaluated;
    const auto evaluate = [&] {
      const distribute::DeviceScope device(Device{DeviceType::Gpu, 0});
      for (uint64_t i = 0; i < 6; ++i) {
        const auto values = other(images(i).to(distribute::current_device())).to_vector();
        evaluated.insert(evaluated.end(), values.begin(), values.end());
      }
    };
    std::thread thread(evaluate);
    if (!together) thread.join();
    training.run(0, 6);
    if (together) thread.join();
    got[together] = training.all();
    got[together].push_back(evaluated);
  }
  CHECK(got[0] == got[1]);
}

#endif
