#include <distribute/data/element_spec.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("bytes become a tensor without a copy and come back", "[data][bytes]") {
  std::string text(1000, 'x');
  text[3] = '\0';
  const std::string wanted = text;
  const char* memory = text.data();
  const Tensor tensor = data::bytes_tensor(std::move(text));
  CHECK(tensor.shape() == Shape{1000});
  CHECK(tensor.dtype() == DType::UInt8);
  CHECK(data::bytes_of(tensor) == wanted);
  CHECK(data::bytes_of(tensor).data() == memory);
  CHECK(data::bytes_of(data::bytes_tensor("")).empty());
  CHECK_THROWS_AS(data::bytes_of(Tensor{1.0f}), InvalidArgumentError);
}
