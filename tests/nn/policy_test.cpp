#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>

#include <cmath>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

namespace {

/// Sets the policy for one test.
struct PolicyScope {
  explicit PolicyScope(const char* name) { nn::set_global_policy(name); }
  ~PolicyScope() { nn::set_global_policy("float32"); }
};

}  // namespace

TEST_CASE("a policy knows its name and its dtypes", "[nn][policy]") {
  CHECK(nn::global_policy().name() == "float32");
  for (const char* name : {"float32", "mixed_bfloat16", "mixed_float16"})
    CHECK(nn::Policy(name).name() == name);
  CHECK(nn::Policy("mixed_bfloat16").compute_dtype() == DType::BFloat16);
  CHECK(nn::Policy("mixed_bfloat16").variable_dtype() == DType::Float32);
  CHECK_THROWS_AS(nn::Policy("bfloat8"), InvalidArgumentError);
}

TEST_CASE("layers compute in the policy's dtype and keep float32 weights", "[nn][policy]") {
  const PolicyScope scope("mixed_bfloat16");
  nn::Sequential model(nn::Conv2D({.filters = 8, .kernel_size = 3, .activation = nn::relu}),
                       nn::BatchNormalization());
  const Tensor x = test_tensor({2, 6, 6, 3});
  GradientTape tape;
  const Tensor y = model(x, {.training = true});
  CHECK(y.dtype() == DType::BFloat16);
  const auto variables = model.trainable_variables();
  const auto gradients = tape.gradient(y, variables);
  for (size_t i = 0; i < variables.size(); ++i) {
    INFO(variables[i].name());
    CHECK(variables[i].dtype() == DType::Float32);
    REQUIRE(gradients[i]);
    CHECK(gradients[i].dtype() == DType::Float32);
  }
}

TEST_CASE("a layer may have a policy of its own", "[nn][policy]") {
  const PolicyScope scope("mixed_bfloat16");
  nn::Dense narrow({.units = 4}), wide({.units = 4});
  wide.set_dtype_policy("float32");
  const Tensor x = test_tensor({2, 3});
  CHECK(narrow(x).dtype() == DType::BFloat16);
  CHECK(wide(cast(x, DType::BFloat16)).dtype() == DType::Float32);
  CHECK(wide.dtype_policy().name() == "float32");
}

TEST_CASE("integers are not cast", "[nn][policy]") {
  const PolicyScope scope("mixed_bfloat16");
  class Identity : public nn::Module {
    Tensor call(const Tensor& x, nn::CallOptions) override { return x; }
  };
  Identity identity;
  CHECK(identity(Tensor{1, 2, 3}).dtype() == DType::Int32);
}

TEST_CASE("a dense layer in mixed_bfloat16 is as close to Keras's as 16 bits are", "[nn][policy]") {
  // Keras 3.15 under TensorFlow 2.21. It rounds the product, the bias and the gradients to
  // bfloat16, here sums with the bias and the gradients of the weights are float32: results may
  // differ by a rounding of the terms, 2^-8 of them.
  const PolicyScope policy("mixed_bfloat16");
  nn::Dense layer({.units = 2});
  const Tensor x({3, 2}, std::vector<float>{1.0078125f, 0.3f, 0.7f, 0.1f, 0.2f, -0.9f});
  layer(x);
  const auto weights = layer.trainable_variables();
  weights[0].assign(Tensor({2, 2}, std::vector<float>{0.1f, 0.2f, 0.3f, -0.4f}));
  weights[1].assign(Tensor{0.05f, -0.05f});
  GradientTape tape;
  const Tensor y = layer(x), wide = cast(y, DType::Float32);
  const auto gradients = tape.gradient(reduce_sum(wide * wide), weights);
  CHECK(y.dtype() == DType::BFloat16);
  const auto close = [](const Tensor& ours, const std::vector<float>& keras) {
    REQUIRE(ours.num_elements() == int64_t(keras.size()));
    for (size_t i = 0; i < keras.size(); ++i)
      CHECK(std::abs(ours.to_vector()[i] - keras[i]) <= 1.0f / 256);
  };
  close(wide, {0.2412109375f, 0.031494140625f, 0.150390625f, 0.050048828125f, -0.2001953125f,
               0.349609375f});
  close(gradients[0], {0.6171875f, 0.2734375f, 0.53515625f, -0.59765625f});
  close(gradients[1], {0.380859375f, 0.86328125f});
}
