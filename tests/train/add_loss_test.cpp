// Numbers are Keras's: add_loss_expected.py prints them.
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using train::Verbose;

namespace {

/// Gives its input, and adds a loss of the squares: one number, or one for each example.
class Penalty : public nn::Module {
 public:
  explicit Penalty(bool of_examples = false) : of_examples_(of_examples) {}

 private:
  Tensor call(const Tensor& x, nn::CallOptions) override {
    if (of_examples_)
      add_loss(0.01f * reduce_sum(square(x), {-1}));
    else
      add_loss(0.1f * reduce_mean(square(x)));
    return x;
  }
  bool of_examples_;
};

data::Dataset rows() {
  std::vector<float> x(30), y(10);
  for (size_t i = 0; i < 30; ++i) x[i] = float(i % 7) / 7;
  for (size_t i = 0; i < 10; ++i) y[i] = float(i % 3);
  return data::Dataset::from_tensor_slices({Tensor({10, 3}, x), Tensor({10, 1}, y)}).batch(4);
}

struct Wanted {
  bool of_examples, twice;
  int replicas;
  std::vector<double> loss, mae;
  double evaluated;
  std::vector<double> weights;  // their sums
};

void check_close(const std::vector<double>& got, const std::vector<double>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(3e-5));
}

}  // namespace

TEST_CASE("fit adds what layers give to add_loss, on 1 and 2 replicas", "[train][add_loss]") {
  const std::vector<double> plain{2.659335, -0.103013, 1.850592, -0.035121};
  const std::vector<double> mae{0.916390, 0.836482};
  const Wanted wanted =
      GENERATE_COPY(Wanted{false, false, 1, {1.072014, 0.962160}, mae, 0.931690, plain},
                    Wanted{false, false, 2, {1.072014, 0.962160}, mae, 0.931690, plain},
                    Wanted{false, true, 1, {1.096844, 0.986990}, mae, 0.956520, plain},
                    Wanted{false, true, 2, {1.096844, 0.986990}, mae, 0.956520, plain},
                    Wanted{true,
                           false,
                           1,
                           {1.061899, 0.954563},
                           {0.916440, 0.838069},
                           0.924230,
                           {2.670032, -0.096113, 1.848277, -0.037166}},
                    Wanted{true,
                           false,
                           2,
                           {1.048685, 0.944249},
                           {0.916541, 0.839216},
                           0.914273,
                           {2.679337, -0.090216, 1.845410, -0.039625}});
  CAPTURE(wanted.of_examples, wanted.twice, wanted.replicas);
  MirroredStrategy strategy({.num_replicas = wanted.replicas});
  const auto scope = strategy.scope();
  nn::Sequential net;
  if (wanted.twice) net.add(Penalty());
  net.add(nn::Dense({.units = 2, .kernel_initializer = nn::initializers::constant(0.5)}));
  net.add(Penalty(wanted.of_examples));
  net.add(nn::Dense({.units = 1, .kernel_initializer = "ones"}));
  optim::SGD sgd({.learning_rate = 0.05});
  train::Model model(net);
  model.compile({.optimizer = sgd, .loss = "mse", .metrics = {"mae"}});
  const auto history = model.fit(rows(), {.epochs = 2, .verbose = Verbose::Silent});
  check_close(history.history.at("loss"), wanted.loss);
  check_close(history.history.at("mae"), wanted.mae);
  const auto logs = model.evaluate(rows());
  CHECK(logs.at("loss") == Approx(wanted.evaluated).epsilon(3e-5));
  std::vector<double> sums;
  for (const Variable& weight : net.trainable_variables())
    sums.push_back(reduce_sum(weight.value()).item<float>());
  check_close(sums, wanted.weights);
}

TEST_CASE("losses() has what the last outermost call added", "[train][add_loss]") {
  nn::Sequential net(Penalty(), Penalty(true));
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, 4});
  CHECK(net.losses().empty());
  for (int call = 0; call < 2; ++call) {
    net(x);
    const auto losses = net.losses();
    REQUIRE(losses.size() == 2);
    CHECK(losses[0].item<float>() == Approx(0.75));
    CHECK(losses[1].item<float>() == Approx(0.3));
  }
  GradientTape tape;
  tape.watch(x);
  net(x);
  const Tensor slope = tape.gradient(net.losses()[0], x);
  CHECK(slope.to_vector() == std::vector<float>{0.05f, 0.1f, 0.15f, 0.2f});
  check_throws<InvalidArgumentError>([&] { net.add_loss({}); }, "add_loss: the tensor is empty");
}
