#include <distribute/data/detail/pass_number.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

Numbers passes_of(const Dataset& dataset) {
  Numbers numbers;
  for (const Batch& element : dataset) numbers.push_back(element.y.item<int64_t>());
  return numbers;
}

}  // namespace

TEST_CASE("elements carry the number of their pass", "[data][pass_number]") {
  const auto make = [] { return Dataset(pass_number_node(Dataset::range(2).node())); };
  const Dataset dataset = make();
  CHECK(dataset.element_spec() == ElementSpec{{{}, DType::Int64}, {{}, DType::Int64}});
  CHECK(passes_of(dataset) == Numbers{0, 0});
  CHECK(passes_of(dataset) == Numbers{1, 1});
  CHECK(passes_of(make().repeat(3)) == Numbers{0, 0, 1, 1, 2, 2});
  CHECK(scalars_of(make().shuffle(2).skip(1)).size() == 1);
}

TEST_CASE("the number of the pass is restored with the position", "[data][pass_number]") {
  const auto make = [] { return Dataset(pass_number_node(Dataset::range(2).node())).repeat(); };
  Iterator it = make().iterator();
  for (int i = 0; i < 5; ++i) it.next();
  const Dataset fresh = make();
  Iterator other = fresh.iterator();
  other.restore(it.state());
  CHECK(other.next().y.item<int64_t>() == it.next().y.item<int64_t>());
}
