#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

/// One place for each variable it was told of.
class Places : public GradientPlacer {
 public:
  void add(const Variable& variable) {
    memory_[variable.impl().id()].resize(size_t(variable.shape().num_elements()));
  }
  std::optional<BufferOffer> place(const Variable& variable) override {
    const auto found = memory_.find(variable.impl().id());
    if (found == memory_.end()) return std::nullopt;
    ++given;
    return BufferOffer{int64_t(found->second.size() * sizeof(float)), found->second.data(),
                       [this] { ++returned; }};
  }
  const float* of(const Variable& variable) { return memory_[variable.impl().id()].data(); }
  int given = 0, returned = 0;

 private:
  std::map<uint64_t, std::vector<float>> memory_;
};

}  // namespace

TEST_CASE("the gradient of a variable appears where the placer says",
          "[autograd][gradient_placer]") {
  const Variable w(ones({3, 5})), elsewhere(ones({5, 2}));
  Places places;
  places.add(w);
  {
    const GradientPlacerScope scope(&places);
    GradientTape tape;
    const Tensor y = matmul(matmul(ones({4, 3}), w.value()), elsewhere.value());
    const auto gradients = tape.gradient(y, std::vector<Variable>{w, elsewhere});
    CHECK(gradients[0].array().data<float>() == places.of(w));
    CHECK(gradients[1].array().data<float>() != places.of(w));
    CHECK(gradients[0].to_vector() == std::vector<float>(15, 8.0f));
    CHECK(places.given == 1);
    CHECK(places.returned == 0);
  }
  CHECK(places.returned == 1);
}

TEST_CASE("a variable that is read twice gets its gradient by addition, anywhere",
          "[autograd][gradient_placer]") {
  const Variable w(ones({3, 3}));
  Places places;
  places.add(w);
  const GradientPlacerScope scope(&places);
  GradientTape tape;
  const Tensor y = matmul(w.value(), matmul(w.value(), ones({3, 2})));
  const auto gradients = tape.gradient(y, std::vector<Variable>{w});
  GradientTape plain;
  const Tensor z = matmul(w.value(), matmul(w.value(), ones({3, 2})));
  gradient_placer() = nullptr;
  CHECK(gradients[0].to_vector() == plain.gradient(z, std::vector<Variable>{w})[0].to_vector());
}

TEST_CASE("buffers take an offer of their size once, others come from the cache",
          "[device][buffer]") {
  alignas(64) float memory[16];
  int returned = 0;
  const auto offer = [&] {
    return std::vector<BufferOffer>{{sizeof memory, memory, [&] { ++returned; }}};
  };
  {
    const BufferOffers offers(offer());
    const Buffer other(32, Device{}), taker(sizeof memory, Device{}), late(sizeof memory, Device{});
    CHECK(other.data() != memory);
    CHECK(taker.data() == memory);
    CHECK(late.data() != memory);
  }
  CHECK(returned == 1);
  const Buffer after(sizeof memory, Device{});
  CHECK(after.data() != memory);
}
