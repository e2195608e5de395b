#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/ops/array.hpp>

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
  wide.set_dtype_policy(nn::Policy("float32"));
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
