// Against TensorFlow: sequences/answers.json.
#include <distribute/data/grouping.hpp>

#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("windows are TensorFlow's, of rows of a table and of other elements", "[data][window]") {
  // clang-format off
  const auto [size, shift, stride, drop] = GENERATE(table<int64_t, int64_t, int64_t, bool>({
      {3, 3, 1, false}, {3, 3, 1, true}, {3, 1, 1, false}, {3, 1, 1, true},
      {3, 2, 2, false}, {2, 4, 3, false}, {2, 4, 3, true}, {8, 1, 1, true}}));
  // clang-format on
  const bool of_table = GENERATE(true, false);
  Dataset numbers = Dataset::range(7);
  if (!of_table) numbers = numbers.map([](const Batch& number) { return number; });
  const Windows windows =
      numbers.window(size, {.shift = shift, .stride = stride, .drop_remainder = drop});
  const auto wanted =
      tensorflow_answer(str_cat("window ", size, " ", shift, " ", stride, " ", int(drop)));
  CHECK(answer_of(windows.batch()) == wanted);
  CHECK(windows.cardinality() == wanted["cardinality"]);
  CHECK(resumes_everywhere(windows.batch()));
}

TEST_CASE("a function makes a dataset of each window", "[data][window]") {
  const Dataset pairs = Dataset::range(5)
                            .window(3, {.shift = 1, .drop_remainder = true})
                            .flat_map([](const Dataset& window) { return window.skip(1); });
  CHECK(elements_as_json(pairs) == nlohmann::json({1, 2, 2, 3, 3, 4}));
  CHECK(resumes_everywhere(pairs));
  CHECK_THROWS_AS(Dataset::range(5).window(0), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::range(5).window(2, {.stride = 0}), InvalidArgumentError);
}
