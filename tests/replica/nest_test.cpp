#include <distribute/base/error.hpp>
#include <distribute/replica/nest.hpp>

#include "support/catch.hpp"

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace distribute;
using replica_internal::TensorsOf;

namespace {

struct Inner {
  Tensor a, b;
};
struct Outer {
  std::map<std::string, Tensor> logs;
  Inner inner;
  std::tuple<Tensor, std::array<Tensor, 2>> tuple;
};
struct Nothing {};
struct WithNumber {
  Tensor loss;
  int step = 0;
};

}  // namespace

TEST_CASE("structures of tensors are told from others", "[replica][nest]") {
  CHECK(NestedTensors<Outer>);
  CHECK(NestedTensors<std::map<int, std::vector<Tensor>>>);
  CHECK(NestedTensors<std::pair<Tensor, Tensor>>);
  CHECK_FALSE(NestedTensors<Tensor>);               // functions take it anyway
  CHECK_FALSE(NestedTensors<std::vector<Tensor>>);  // so this one
  CHECK_FALSE(NestedTensors<Nothing>);
  CHECK_FALSE(NestedTensors<float>);
  CHECK_FALSE(NestedTensors<std::vector<float>>);
  CHECK_FALSE(NestedTensors<std::map<std::string, int>>);
}

TEST_CASE("the tensors of a structure are listed, named and replaced", "[replica][nest]") {
  Outer outer{
      {{"loss", Tensor(1.0)}}, {Tensor(2.0), Tensor()}, {Tensor(3.0), {Tensor(4.0), Tensor(5.0)}}};
  const TensorsOf tensors(outer);
  CHECK(tensors.names() == std::vector<std::string>{"[0]['loss']", "[1][0]", "[2][0]", "[2][1][0]",
                                                    "[2][1][1]"});  // none is left out
  std::vector<Tensor> doubled;
  for (const Tensor& value : tensors.values()) doubled.emplace_back(2 * value.item<float>());
  tensors.replace(doubled);
  CHECK(outer.logs.at("loss").item<float>() == 2);
  CHECK(std::get<1>(outer.tuple)[1].item<float>() == 10);
  CHECK_FALSE(outer.inner.b);
}

TEST_CASE("different structures are an error that names the first difference", "[replica][nest]") {
  std::map<int, Tensor> one{{1, Tensor(1.0)}}, two{{1, Tensor(1.0)}, {2, Tensor(2.0)}};
  const std::vector<TensorsOf> same{TensorsOf(one), TensorsOf(one)};
  CHECK_NOTHROW(replica_internal::check_same_parts("reduce", same));
  const std::vector<TensorsOf> different{TensorsOf(one), TensorsOf(two)};
  CHECK_THROWS_WITH(replica_internal::check_same_parts("reduce", different),
                    Catch::Contains("replica 0 has nothing, replica 1 has [2]"));
}
