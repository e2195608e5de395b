// Values that a comment does not explain were printed by Keras 3.15: weights are ramps, and the
// loss is the sum of the squared results.
#include <distribute/nn/attention.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/models.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

Tensor ramp(const Shape& shape, float step = 0.1f, int first = -3) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) values.push_back(float(i % 7 + first) * step);
  return Tensor(shape, values);
}

void enable(nn::LoraLayer& layer, const Tensor& x) {
  layer(x);
  for (const Variable& v : layer.variables()) v.assign(ramp(v.shape()));
  layer.enable_lora(2, {.lora_alpha = 4});
  layer.lora_a().assign(ramp(layer.lora_a().shape(), 0.05f));
  layer.lora_b().assign(ramp(layer.lora_b().shape(), 0.2f, -2));
}

std::vector<Tensor> gradients(nn::Module& layer, const Tensor& x) {
  GradientTape tape;
  const Tensor y = layer(x);
  return tape.gradient({reduce_sum(y * y)}, layer.trainable_variables());
}

void train(nn::Module& layer, const Tensor& x, optim::Optimizer& optimizer) {
  for (int step = 0; step < 3; ++step)
    optimizer.apply_gradients(gradients(layer, x), layer.trainable_variables());
}

using Values = std::vector<double>;
constexpr double kClose = 2e-6;

std::vector<std::string> names(const std::vector<Variable>& variables) {
  std::vector<std::string> all;
  for (const Variable& v : variables) all.push_back(v.name());
  return all;
}

}  // namespace

TEST_CASE("LoRA of a dense layer has Keras's values, gradients and steps", "[nn][lora]") {
  nn::Dense layer({.units = 4, .name = "d"});
  const Tensor x = ramp({2, 3});
  enable(layer, x);
  CHECK(layer.count_params() == 30);
  CHECK(names(layer.trainable_variables()) ==
        std::vector<std::string>{"d/bias", "d/lora_kernel_a", "d/lora_kernel_b"});
  CHECK(names(layer.non_trainable_variables()) == std::vector<std::string>{"d/kernel"});
  check_close(layer(x), Values{-0.234, -0.166, -0.098, 0.054, -0.318, -0.178, -0.038, -0.024},
              kClose);
  const auto slopes = gradients(layer, x);
  check_close(slopes[0], Values{-1.104, -0.688, -0.272, 0.06}, kClose);
  check_close(slopes[1], Values{-0.16512, 0.35184, -0.04688, 0.13264, 0.07136, -0.08656}, kClose);
  check_close(slopes[2],
              Values{-0.05316, -0.03676, -0.02036, 0.01032, -0.04416, -0.02752, -0.01088, 0.0024},
              kClose);

  SECTION("SGD") {
    optim::SGD optimizer({.learning_rate = 0.1f});
    train(layer, x, optimizer);
    check_close(layer.bias(), Values{-0.0904021, -0.07291047, -0.05541884, -0.006380052}, kClose);
    check_close(layer.lora_a(),
                Values{-0.1222981, -0.1614062, -0.04422516, -0.02158968, 0.03384777, 0.1182268},
                kClose);
    check_close(layer(x),
                Values{8.41096e-05, -0.009696156, -0.01947643, 0.02751889, -0.1046517, -0.04778976,
                       0.009072147, -0.03266718},
                kClose);
    check_close(layer.merged_weight(),
                Values{-0.3363515, -0.3480858, -0.35982, 0.0809188, 0.1169603, 0.1910071, 0.265054,
                       -0.3002068, -0.129728, 0.03009998, 0.189928, 0.01866774},
                kClose);
  }
  SECTION("Adam") {
    optim::Adam optimizer({.learning_rate = 0.1f});
    train(layer, x, optimizer);
    check_close(layer.lora_b(),
                Values{-0.1888884, 0.02644797, 0.2316172, -0.02939259, 0.6714839, 0.7605581,
                       0.7825372, -0.349206},
                1e-5);
    check_close(layer(x),
                Values{0.1295313, 0.1094317, -0.01986819, 0.05577153, 0.03109989, 0.09562127,
                       0.04978275, -0.01107057},
                1e-5);
  }
  CHECK(layer.kernel().value().to_vector() == ramp({3, 4}).to_vector());
}

TEST_CASE("penalties of an embedding with LoRA are those of its matrices", "[nn][lora]") {
  nn::Embedding layer({.input_dim = 5, .output_dim = 3, .embeddings_regularizer = {.l2 = 0.1}});
  layer(Tensor{int64_t(0), int64_t(1)});
  CHECK(layer.losses().size() == 1);
  layer.enable_lora(2);
  layer.lora_a().assign(fill({5, 2}, 0.5));
  layer.lora_b().assign(fill({2, 3}, 0.25));
  const auto losses = layer.losses();
  REQUIRE(losses.size() == 2);
  check_close(losses[0], Values{0.25}, kClose);
  check_close(losses[1], Values{0.0375}, kClose);
}

TEST_CASE("LoRA of an einsum layer has Keras's values, gradients and steps", "[nn][lora]") {
  nn::EinsumDense layer(
      {.equation = "bsd,dhk->bshk", .output_shape = {-1, 2, 3}, .bias_axes = "hk", .name = "e"});
  const Tensor x = ramp({1, 2, 3});
  enable(layer, x);
  CHECK(layer.count_params() == 42);
  CHECK(layer.lora_a().shape() == Shape{3, 2, 2});
  CHECK(layer.lora_b().shape() == Shape{2, 3});
  check_close(
      layer(x),
      Values{-0.32, -0.116, 0.018, 0.062, 0.106, 0.15, -0.218, -0.164, -0.18, -0.064, 0.07, 0.204},
      kClose);
  check_close(gradients(layer, x)[1],
              Values{-0.18144, 0.11952, 0.0552, -0.17376, -0.07296, -0.0072, 0.04144, -0.0608,
                     0.03552, -0.13392, 0.02768, 0.05216},
              kClose);
  optim::SGD optimizer({.learning_rate = 0.1f});
  train(layer, x, optimizer);
  check_close(layer.lora_b(),
              Values{-0.3894579, -0.1983707, -0.005855587, 0.2026454, 0.3999208, 0.5981678},
              kClose);
  check_close(layer(x),
              Values{-0.1010235, -0.003929906, 0.0781389, 0.05445066, 0.0280114, 0.001570664,
                     -0.007935502, -0.05115285, -0.1095398, -0.0594178, 0.003880773, 0.06719618},
              kClose);
}

TEST_CASE("LoRA of an embedding has Keras's values, gradients and steps", "[nn][lora]") {
  nn::Embedding layer({.input_dim = 5, .output_dim = 3, .name = "m"});
  const Tensor x(Shape{1, 3}, std::vector<int64_t>{1, 4, 1});
  enable(layer, x);
  CHECK(layer.count_params() == 31);
  CHECK(names(layer.trainable_variables()) ==
        std::vector<std::string>{"m/lora_embeddings_a", "m/lora_embeddings_b"});
  check_close(layer(x), Values{0.04, 0.12, 0.2, 0.26, 0.3, -0.36, 0.04, 0.12, 0.2}, kClose);
  const auto slopes = gradients(layer, x);
  check_close(slopes[0] * 1.0f, Values{0, 0, -0.32, 1.408, 0, 0, 0, 0, -0.656, -0.176}, kClose);
  check_close(slopes[1], Values{-0.12, -0.168, 0.064, -0.052, -0.06, 0.072}, kClose);
  optim::Adam optimizer({.learning_rate = 0.1f});
  train(layer, x, optimizer);
  check_close(
      layer.lora_a(),
      Values{-0.15, -0.1, 0.05984859, -0.1994877, 0.05, 0.1, 0.15, -0.15, 0.1565954, -0.03703805},
      1e-5);
  check_close(layer.merged_weight(),
              Values{-0.2956874, -0.2837222, -0.1569581, -0.092089, -0.07061975, -0.0391598,
                     0.3237291, -0.215274, -0.1080816, -0.1986874, -0.1293474, -0.1165382,
                     0.1421062, 0.2668615, -0.3952653},
              1e-5);
}

TEST_CASE("LoRA begins with the layer's own results", "[nn][lora]") {
  nn::Dense layer({.units = 4, .kernel_regularizer = nn::regularizers::l2(0.5f)});
  const Tensor x = ramp({2, 3}), before = layer(x);
  layer.enable_lora(2);
  CHECK(layer.lora_alpha() == 2);
  CHECK(layer(x).to_vector() == before.to_vector());
  CHECK(layer.lora_a().value().to_vector() != zeros({3, 2}).to_vector());  // he_uniform
}

TEST_CASE("regularizers of a layer with LoRA are on the matrices", "[nn][lora]") {
  nn::Dense layer({.units = 2, .kernel_regularizer = nn::regularizers::l2(0.5f)});
  layer(ramp({2, 3}));
  for (const Variable& v : layer.variables()) v.assign(ramp(v.shape()));
  CHECK(layer.losses()[0].item<float>() == Approx(0.095));
  layer.enable_lora(1);
  layer.lora_a().assign(ramp({3, 1}, 0.05f));
  layer.lora_b().assign(ramp({1, 2}, 0.2f, -2));
  REQUIRE(layer.losses().size() == 2);
  CHECK(layer.losses()[0].item<float>() == Approx(0.0175));
  CHECK(layer.losses()[1].item<float>() == Approx(0.1));
}

TEST_CASE("a layer that cannot have LoRA says why", "[nn][lora]") {
  nn::Dense layer({.units = 2});
  CHECK_THROWS_WITH(layer.enable_lora(2), "Cannot enable lora on a layer that isn't yet built.");
  layer(ramp({2, 3}));
  // Keras divides by zero in the next call.
  CHECK_THROWS_WITH(layer.enable_lora(0), Catch::Contains("rank must be at least 1, got 0"));
  CHECK(layer.trainable_variables().size() == 2);
  layer.enable_lora(2);
  CHECK_THROWS_WITH(layer.enable_lora(2),
                    "lora is already enabled. This can only be done once per layer.");
  nn::Dense kept({.units = 2, .kernel_constraint = nn::constraints::non_neg()});
  kept(ramp({2, 3}));
  CHECK_THROWS_WITH(kept.enable_lora(1),
                    "Lora is incompatible with kernel constraints. In order to enable lora on this "
                    "layer, remove the `kernel_constraint` argument.");
}

// Keras's Dense has alpha 2 here: it forgets the option. And trainable = True trains its kernel
// again.
TEST_CASE("the options of a layer enable LoRA, and its kernel stays frozen", "[nn][lora]") {
  nn::Dense layer({.units = 2, .lora_rank = 2, .lora_alpha = 8});
  layer(ramp({2, 3}));
  CHECK(layer.lora_rank() == 2);
  CHECK(layer.lora_alpha() == 8);
  layer.set_trainable(false);
  CHECK(layer.trainable_variables().empty());
  layer.set_trainable(true);
  CHECK(layer.trainable_variables().size() == 3);
}

TEST_CASE("the products of MultiHeadAttention may have LoRA", "[nn][lora]") {
  nn::MultiHeadAttention attention({.num_heads = 2, .key_dim = 3});
  const Tensor x = ramp({1, 4, 5}), before = attention(x);
  attention.query_dense().enable_lora(2);
  attention.output_dense().enable_lora(1);
  CHECK(attention(x).to_vector() == before.to_vector());
  CHECK(attention.query_dense().lora_a().shape() == Shape{5, 2, 2});
  CHECK(attention.output_dense().lora_a().shape() == Shape{2, 3, 1});
  attention.query_dense().lora_b().assign(ramp({2, 3}));
  CHECK(attention(x).to_vector() != before.to_vector());
  CHECK_FALSE(attention.key_dense().lora_enabled());
  CHECK_FALSE(attention.value_dense().lora_enabled());
}

namespace {

struct Net {
  nn::Sequential model{nn::Embedding({.input_dim = 7, .output_dim = 4}),
                       nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3}),
                       nn::Dense({.units = 3})};
  Tensor x{Shape{2, 4}, std::vector<int64_t>{1, 2, 3, 4, 5, 6, 0, 1}};
};

}  // namespace

TEST_CASE("a whole model trains nothing but the matrices", "[nn][lora]") {
  Net net;
  net.model(net.x);
  const auto layers = nn::enable_lora(net.model, 2, {.lora_alpha = 4});
  REQUIRE(layers.size() == 2);
  CHECK(layers[0]->name() == "query");
  CHECK(layers[1]->lora_alpha() == 4);
  CHECK(net.model.trainable_variables().size() == 4);
  CHECK(nn::lora_layers(net.model).size() == 2);
}

TEST_CASE("names of layers that do not exist change nothing", "[nn][lora]") {
  Net net;
  net.model(net.x);
  CHECK_THROWS_WITH(nn::enable_lora(net.model, 2, {.target_layer_names = {"q_proj"}}),
                    Catch::Contains("attention_output") && Catch::Contains("key, query, value"));
  CHECK_THROWS_AS(nn::enable_lora(net.model, 0), InvalidArgumentError);
  CHECK(nn::lora_layers(net.model).empty());
  CHECK(net.model.non_trainable_variables().empty());
}

TEST_CASE("replicas train the matrices as one device does", "[nn][lora]") {
  const auto run = [](int replicas) {
    MirroredStrategy strategy({.num_replicas = replicas});
    const auto scope = strategy.scope();
    nn::Sequential model(nn::Dense({.units = 4, .name = "first"}), nn::Dense({.units = 2}));
    optim::SGD optimizer({.learning_rate = 0.5f});
    model(ones({1, 3}));
    for (const Variable& v : model.variables()) v.assign(ramp(v.shape()));
    nn::enable_lora(model, 2, {.target_layer_names = {"first"}});
    const auto* layer = nn::lora_layers(model)[0];
    layer->lora_a().assign(ramp({3, 2}, 0.05f));
    const Tensor all = ramp({4, 3});
    const auto parts =
        strategy.experimental_distribute_values_from_function([&](const ValueContext& c) {
          const int64_t rows = 4 / c.num_replicas_in_sync, id = c.replica_id_in_sync_group;
          return all.rows(id * rows, (id + 1) * rows);
        });
    for (int step = 0; step < 3; ++step)
      strategy.run(
          [&](const Tensor& x) {
            GradientTape tape;
            const Tensor y = model(x);
            const auto variables = model.trainable_variables();
            CHECK(variables.size() == 2);  // all that is reduced
            optimizer.apply_gradients(tape.gradient({reduce_sum(y * y)}, variables), variables);
          },
          parts);
    CHECK(layer->lora_weight().value().to_vector() == ramp({3, 4}).to_vector());
    CHECK(layer->lora_b().impl().num_components() == replicas);
    for (int i = 1; i < replicas; ++i)
      CHECK(layer->lora_b().impl().component(i).to_vector() ==
            layer->lora_b().impl().component(0).to_vector());
    return layer->merged_weight().to_vector();
  };
  const auto one = run(1), two = run(2);
  CHECK(one != ramp({3, 4}).to_vector());
  check_close(Tensor(Shape{3, 4}, two), {one.begin(), one.end()}, 1e-6);
}

TEST_CASE("a checkpoint holds the kernel and both matrices, also for LoRA that comes later",
          "[nn][lora]") {
  const TemporaryDirectory own;
  const Tensor x = ramp({2, 3});
  nn::Sequential saved(nn::Dense({.units = 4}));
  enable(dynamic_cast<nn::LoraLayer&>(*saved.submodules()[0]), x);
  train::Checkpoint checkpoint({{"model", &saved}});
  const std::string path = checkpoint.save(own / "c");

  nn::Sequential later(nn::Dense({.units = 4}));
  train::Checkpoint restored({{"model", &later}});
  const auto status = restored.restore(path);
  later(x);
  dynamic_cast<nn::LoraLayer&>(*later.submodules()[0]).enable_lora(2, {.lora_alpha = 4});
  status.assert_consumed();
  CHECK(later(x).to_vector() == saved(x).to_vector());
  CHECK(later.variables().size() == 4);
}
