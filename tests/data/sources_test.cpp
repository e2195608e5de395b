#include <distribute/data/node.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("generators start anew with every pass and are held to their spec", "[data][sources]") {
  const auto three = [] {
    return [next = int64_t{0}]() mutable -> std::optional<Batch> {
      if (next == 3) return std::nullopt;
      return Batch{Tensor(next++)};
    };
  };
  const auto dataset = Dataset::from_generator(three, {{{}, DType::Int64}});
  CHECK(scalars_of(dataset) == Numbers{0, 1, 2});
  CHECK(scalars_of(dataset.repeat(2)) == Numbers{0, 1, 2, 0, 1, 2});
  Iterator wrong = Dataset::from_generator(three, {{{2}, DType::Int64}}).iterator();
  CHECK_THROWS_WITH(wrong.next(),
                    "from_generator: expected an element ([2] int64), got ([] int64)");
}

TEST_CASE("file sources read file after file", "[data][sources]") {
  const auto reader = [](const std::string& path) {
    const int64_t first = std::stoi(path) * 10;
    return Dataset::range(first, first + 2);
  };
  const auto dataset = Dataset::from_files({"1", "2", "3"}, reader);
  CHECK(scalars_of(dataset) == Numbers{10, 11, 20, 21, 30, 31});
  CHECK(dataset.node()->files().size() == 3);
  CHECK_THROWS_AS(Dataset::from_files({}, reader), InvalidArgumentError);
}
