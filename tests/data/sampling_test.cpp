// Against TensorFlow: sequences/answers.json.
#include <distribute/data/grouping.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

const Dataset kThree = Dataset::range(3), kTen = Dataset::range(10, 20),
              kEndless = Dataset::range(5).repeat();

Dataset choices(const std::vector<int64_t>& numbers) {
  return Dataset::from_tensor_slices(Tensor(Shape{int64_t(numbers.size())}, numbers));
}

}  // namespace

TEST_CASE("choices tell whose element comes next", "[data][sampling]") {
  const Dataset order = choices({0, 0, 1, 0, 0, 1, 1, 0, 1});
  for (const bool stop : {true, false}) {
    const Dataset chosen = Dataset::choose_from_datasets({kThree, kTen}, order, stop);
    CHECK(answer_of(chosen) == tensorflow_answer(str_cat("chosen ", int(stop))));
    CHECK(resumes_everywhere(chosen));
  }
  // As many elements as choices, however endless the datasets are.
  CHECK_FALSE(never_ends(*Dataset::choose_from_datasets({kEndless}, choices({0, 0})).node()));
  CHECK_THROWS_SAYING(scalars_of(Dataset::choose_from_datasets({kThree}, choices({1}))),
                      InvalidArgumentError, "the choice 1 is not in [0, 1)");
  CHECK_THROWS_AS(Dataset::choose_from_datasets({}, order), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::choose_from_datasets({kThree}, order.batch(2)), InvalidArgumentError);
}

TEST_CASE("samples keep each dataset's order and follow the weights", "[data][sampling]") {
  for (const bool stop : {true, false}) {
    std::vector<int64_t> sizes;
    for (const auto& inputs : {std::vector{kThree, kTen}, {kThree, kEndless}, {kEndless, kEndless}})
      sizes.push_back(
          Dataset::sample_from_datasets(inputs, {.stop_on_empty_dataset = stop}).cardinality());
    CHECK(nlohmann::json(sizes) ==
          tensorflow_answer(str_cat("sampled ", int(stop)))["cardinality"]);
  }
  const Dataset both = Dataset::sample_from_datasets(
      {kThree, kTen}, {.seed = 4, .rerandomize_each_iteration = false});
  Numbers all = scalars_of(both);
  CHECK(std::is_sorted(all.begin(), std::stable_partition(all.begin(), all.end(),
                                                          [](int64_t n) { return n < 10; })));
  std::sort(all.begin(), all.end());
  CHECK(nlohmann::json(all) == tensorflow_answer("sampled values")["elements"]);
  CHECK(resumes_everywhere(both));

  const Dataset weighted = Dataset::sample_from_datasets(
      {Dataset::range(0, 1).repeat(), Dataset::range(1, 2).repeat(), Dataset::range(2, 3).repeat()},
      {.weights = {3, 0, 1}, .seed = 1});
  std::array<int64_t, 3> counts = {};
  for (const int64_t number : scalars_of(weighted.take(4000), 4000)) ++counts[size_t(number)];
  CHECK(counts[1] == 0);
  CHECK(std::abs(counts[0] - 3000) < 110);  // four standard deviations
}

TEST_CASE("samples are drawn anew in each pass unless told otherwise", "[data][sampling]") {
  const auto sampled = [](const SampleOptions& options) {
    return Dataset::sample_from_datasets({kTen, Dataset::range(10)}, options);
  };
  const Dataset fresh = sampled({.seed = 3});
  const Dataset fixed = sampled({.seed = 3, .rerandomize_each_iteration = false});
  const Numbers first = scalars_of(fresh);
  CHECK(scalars_of(fresh) != first);
  CHECK(scalars_of(fixed) == first);
  CHECK(scalars_of(fixed) == first);
  CHECK(scalars_of(sampled({.seed = 4})) != first);
  CHECK_THROWS_AS(sampled({.weights = {1}}), InvalidArgumentError);
  CHECK_THROWS_AS(sampled({.weights = {1, -1}}), InvalidArgumentError);
  CHECK_THROWS_AS(sampled({.weights = {0, 0}}), InvalidArgumentError);
}

TEST_CASE("sampling ends when what is left has no weight", "[data][sampling]") {
  // TensorFlow 2.21: range(3) and range(10, 13) by {1, 0}: 0 1 2, stopping at the end of one or
  // not; {0, 1, 0} of these and range(3): 10 11 12; an empty one by 1 and range(10, 13) by 0:
  // nothing. It does not end for choices without end that name datasets which have ended.
  const Dataset other = Dataset::range(10, 13), none = Dataset::range(0);
  for (const bool stop : {true, false}) {
    const auto sampled = [&](const std::vector<Dataset>& inputs, std::vector<double> weights) {
      return scalars_of(Dataset::sample_from_datasets(
          inputs, {.weights = std::move(weights), .seed = 1, .stop_on_empty_dataset = stop}));
    };
    CHECK(sampled({kThree, other}, {1, 0}) == Numbers{0, 1, 2});
    CHECK(sampled({kThree, other, kThree}, {0, 1, 0}) == Numbers{10, 11, 12});
    CHECK(sampled({none, other}, {1, 0}).empty());
    CHECK(sampled({kThree, none}, {1, 0}) == Numbers{0, 1, 2});
  }
  // A weight that is next to nothing: the draw is among those that are left.
  const Dataset rare =
      Dataset::sample_from_datasets({kThree, other}, {.weights = {1, 1e-300}, .seed = 1});
  CHECK(scalars_of(rare) == Numbers{0, 1, 2, 10, 11, 12});
  CHECK(resumes_everywhere(rare));
}
