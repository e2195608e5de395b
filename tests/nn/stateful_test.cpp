// Recurrent layers that keep their states between calls. Numbers printed by Keras 3.15 with
// TensorFlow 2.21, kernels of 0.3 and recurrent kernels of -0.2.
#include <distribute/nn/models.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "support/catch.hpp"
#include "support/check_close.hpp"
#include "support/check_throws.hpp"

using namespace distribute;

namespace {

const Tensor x(Shape{2, 2, 1}, std::vector<float>{1, 2, -1, 0.5f});

template <typename Options>
Options stateful(int64_t units) {
  Options o;
  o.units = units;
  o.kernel_initializer = nn::initializers::constant(0.3f);
  o.recurrent_initializer = nn::initializers::constant(-0.2f);
  o.stateful = true;
  return o;
}

}  // namespace

TEST_CASE("a stateful LSTM goes on where the last batch ended", "[nn][recurrent]") {
  nn::LSTM lstm(stateful<nn::LSTMOptions>(2));
  const std::vector<double> first{0.2753462, 0.2753462, -0.0014835, -0.0014835};
  check_close(lstm(x), first);
  check_close(lstm(x), {0.3632903, 0.3632903, -0.0020787, -0.0020787});
  lstm.reset_states();
  check_close(lstm(x), first);
  CHECK(lstm.variables().size() == 3);  // states are no weights
}

TEST_CASE("stateful GRU and SimpleRNN go on, too", "[nn][recurrent]") {
  auto options = stateful<nn::GRUOptions>(2);
  options.return_sequences = true;
  nn::GRU gru(options);
  gru(x);
  check_close(gru(x), {0.2532673, 0.2532673, 0.3429778, 0.3429778, -0.1704999, -0.1704999,
                       -0.0117859, -0.0117859});
  nn::SimpleRNN simple(stateful<nn::SimpleRNNOptions>(2));
  check_close(simple(x), {0.4490223, 0.4490223, 0.2603885, 0.2603885});
  check_close(simple(x), {0.5020736, 0.5020736, 0.2944206, 0.2944206});
}

TEST_CASE("both directions of a stateful layer keep their states", "[nn][recurrent]") {
  nn::Bidirectional both(nn::GRU(stateful<nn::GRUOptions>(1)));
  nn::Sequential model(std::move(both));
  const std::vector<double> first{0.2685941, 0.2256166, -0.0156023, -0.1423155};
  check_close(model(x), first);
  check_close(model(x), {0.3566352, 0.2987023, -0.0185459, -0.1683642});
  model.reset_states();
  check_close(model(x), first);
}

TEST_CASE("a stateful layer refuses batches of another size", "[nn][recurrent]") {
  nn::LSTM lstm(stateful<nn::LSTMOptions>(2));
  lstm(x);
  check_throws<InvalidArgumentError>([&] { lstm(zeros({3, 2, 1})); }, "reset_states()");
  lstm.reset_states();
  CHECK(lstm(zeros({3, 2, 1})).shape() == Shape{3, 2});
}

TEST_CASE("states that a call is given become the layer's", "[nn][recurrent]") {
  nn::SimpleRNN simple(stateful<nn::SimpleRNNOptions>(2)), other(stateful<nn::SimpleRNNOptions>(2));
  const auto given = simple.call_with_states(x);
  other(x);
  other.call_with_states(x, {zeros({2, 2})});
  const std::vector<float> wanted = simple(x).to_vector();
  check_close(other(x), {wanted.begin(), wanted.end()});
}

TEST_CASE("each replica keeps the states of its part of the batch", "[nn][recurrent]") {
  MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::LSTM lstm(stateful<nn::LSTMOptions>(2));
  const auto step = [&] {
    const int id = get_replica_context()->replica_id_in_sync_group();
    const Tensor part(Shape{1, 2, 1},
                      id == 0 ? std::vector<float>{1, 2} : std::vector<float>{-1, 0.5f});
    return lstm(part);
  };
  strategy.run(step);
  const auto second = strategy.run(step);
  check_close(second[0], {0.3632903, 0.3632903});
  check_close(second[1], {-0.0020787, -0.0020787});
}

TEST_CASE("a model of layers that are applied begins without states", "[nn][recurrent]") {
  nn::Functional model;
  const auto input = model.input("x", {2, 1});
  model.output("y", model.apply(nn::LSTM(stateful<nn::LSTMOptions>(2)), {input}));
  check_close(model(x), {0.2753462, 0.2753462, -0.0014835, -0.0014835});
}
