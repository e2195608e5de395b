#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include "support/catch.hpp"

#include <string>
#include <utility>

using namespace distribute;

TEST_CASE("map makes a value for each replica", "[replica][values]") {
  const PerReplica<std::pair<int, std::string>> values({{1, "a"}, {2, "b"}});
  CHECK(values.map([](const auto& value) { return value.first * 10; }).values() ==
        std::vector<int>{10, 20});
  CHECK(values.map(&std::pair<int, std::string>::second).values() ==
        std::vector<std::string>{"a", "b"});
  CHECK(values.size() == 2);
}

TEST_CASE("a component that is not there is an error", "[replica][values]") {
  const PerReplica<int> values({1, 2});
  CHECK(values[1] == 2);
  CHECK_THROWS_AS(values[2], InvalidArgumentError);
}

TEST_CASE("a mirrored value stands for itself", "[replica][values]") {
  const Mirrored<Tensor> mirrored({Tensor(3.0), Tensor(3.0)});
  const Tensor& value = mirrored;
  CHECK(value.item<float>() == 3);
}
