#include <distribute/saved_model/detail/operation_names.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("names are used once and hold nothing that TensorFlow refuses",
          "[saved_model][operation_names]") {
  saved_model_internal::UniqueNames names;
  CHECK(names.make("Relu") == "Relu");
  CHECK(names.make("Relu") == "Relu_1");
  CHECK(names.make("Relu") == "Relu_2");
  CHECK(names.make("a b:0") == "a_b_0");
  CHECK(names.make("_x") == ".x");
  CHECK(names.make("") == "value");
}

TEST_CASE("an operation has its name in each format, or none", "[saved_model][operation_names]") {
  CHECK(saved_model_internal::same_operation("divide") == "RealDiv");
  CHECK(saved_model_internal::onnx_same_operation("RealDiv") == "Div");
  CHECK(saved_model_internal::same_operation("logical_xor") == "NotEqual");
  CHECK(saved_model_internal::onnx_same_operation("NotEqual").empty());
  CHECK(saved_model_internal::same_operation("conv2d").empty());
}
