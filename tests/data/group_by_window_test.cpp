// Against TensorFlow 2.21: tests/comparison/dataset_cases.py.
#include <distribute/data/grouping.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

int64_t value_of(const Batch& element) { return element.x.item<int64_t>(); }
int64_t parity(const Batch& element) { return value_of(element) % 2; }

auto batch_of(int64_t size) {
  return [size](int64_t, const Dataset& window) { return window.batch(size); };
}

void check(const std::string& name, const Dataset& dataset) {
  CHECK(case_of(dataset) == tensorflow_case("group_by_window " + name));
  CHECK(keeps_the_contract(dataset));
}

}  // namespace

TEST_CASE("elements with one key become windows, in TensorFlow's order", "[data][group]") {
  const auto minus_third = [](const Batch& e) { return -(value_of(e) % 3); };
  const auto third = [](const Batch& e) { return value_of(e) % 3; };
  check("parity", Dataset::range(10).group_by_window(parity, batch_of(5), 5));
  check("early end", Dataset::range(7).group_by_window(parity, batch_of(5), 2));
  check("keys in order", Dataset::range(10).group_by_window(minus_third, batch_of(10), 99));
  check("sizes by key", Dataset::range(12).group_by_window(third, batch_of(10),
                                                           [](int64_t key) { return key + 1; }));
  check("nothing", Dataset::range(0).group_by_window(parity, batch_of(5), 2));
  CHECK(case_of(Dataset::range(4).repeat().group_by_window(parity, batch_of(3), 3), 8) ==
        tensorflow_case("group_by_window of an endless dataset"));
  CHECK(to_string(Dataset::range(4).group_by_window(parity, batch_of(3), 3).element_spec()) ==
        "([-1] int64)");
}

TEST_CASE("a window may become any dataset", "[data][group]") {
  const auto with_key = [](int64_t key, const Dataset& window) {
    return window.map([key](const Batch& e) { return Batch{Tensor(value_of(e) * 10 + key)}; });
  };
  const auto large = [](int64_t, const Dataset& window) {
    return window.filter([](const Batch& e) { return value_of(e) > 3; });
  };
  check("several of one", Dataset::range(5).group_by_window(parity, with_key, 2));
  check("empty results", Dataset::range(6).group_by_window(parity, large, 2));
  check("parts", Dataset::range(6).group_by_window(
                     parity, [](int64_t, const Dataset& window) { return window.take(1); }, 3));
  check("twice", Dataset::range(4).group_by_window(
                     parity, [](int64_t, const Dataset& window) { return window.repeat(2); }, 2));
  const Dataset shuffled = Dataset::range(40).group_by_window(
      parity, [](int64_t, const Dataset& window) { return window.shuffle(10, {.seed = 1}); }, 10);
  Iterator it = shuffled.iterator();
  for (int i = 0; i < 40; ++i) {
    Iterator other = shuffled.iterator();
    other.restore(it.state());
    CHECK(value_of(other.next()) == value_of(it.next()));
  }
  const Numbers first = scalars_of(shuffled);
  CHECK(first != scalars_of(shuffled));  // each pass has an order of its own
  const Numbers window(first.begin(), first.begin() + 10);
  CHECK(Numbers(first.begin() + 20, first.begin() + 30) != window);
  CHECK_THROWS_SAYING(scalars_of(Dataset::range(4).group_by_window(parity, batch_of(5), 0)),
                      InvalidArgumentError, "must be at least 1, got 0");
}

TEST_CASE("ragged batches have the sizes of their rows beside them", "[data][ragged]") {
  const std::vector<Numbers> kRows = {{0}, {1, 2, 3, 4}, {5, 6, 7}, {}, {13, 14}};
  const auto start = [kRows] {
    return [kRows, i = size_t{0}]() mutable -> std::optional<Batch> {
      if (i == kRows.size()) return std::nullopt;
      const Numbers& row = kRows[i++];
      return Batch{Tensor(Shape{int64_t(row.size())}, row)};
    };
  };
  const Dataset ragged = Dataset::from_generator(start, {{{-1}, DType::Int64}});
  const auto as_cases = [](const Dataset& dataset) {
    auto result = nlohmann::json::array();
    for (const Batch& batch : dataset)
      result.push_back({{"values", as_json(batch.x)}, {"lengths", as_json(batch.y)}});
    return result;
  };
  CHECK(as_cases(ragged.ragged_batch(2)) == tensorflow_case("ragged_batch")["elements"]);
  CHECK(as_cases(ragged.ragged_batch(2, true)) ==
        tensorflow_case("ragged_batch without remainder")["elements"]);
  CHECK(keeps_the_contract(ragged.ragged_batch(2)));
  CHECK(to_string(ragged.ragged_batch(2, true).element_spec()) == "([2, -1] int64, [2] int64)");
  CHECK(case_of(Dataset::range(5).ragged_batch(2)) == tensorflow_case("ragged_batch of scalars"));

  const auto several = [](const Batch& e) {
    const int64_t i = value_of(e);
    return TensorMap{{"a", Tensor(Shape{i}, count_up(0, i))},
                     {"b", e.x},
                     {"c", Tensor(Shape{i, 2}, Numbers(size_t(2 * i), i))}};
  };
  const ElementSpec spec = {
      {{-1}, DType::Int64, "a"}, {{}, DType::Int64, "b"}, {{-1, 2}, DType::Int64, "c"}};
  const Dataset named = Dataset::range(1, 5).map(several, {.output_spec = spec}).ragged_batch(3);
  auto found = nlohmann::json::array();
  for (const Batch& batch : named)
    found.push_back(
        {{{"values", as_json(batch["a"])}, {"lengths", as_json(batch["a_row_lengths"])}},
         as_json(batch["b"]),
         {{"values", as_json(batch["c"])}, {"lengths", as_json(batch["c_row_lengths"])}}});
  CHECK(found == tensorflow_case("ragged_batch of several")["elements"]);
  CHECK(named.cardinality() == 2);
  CHECK(keeps_the_contract(named));
  CHECK_THROWS_AS(ragged.ragged_batch(0), InvalidArgumentError);
}

TEST_CASE("the rates of a resampling are TensorFlow's", "[data][resample]") {
  for (const auto& wanted : tensorflow_case("resample_rates")) {
    const ResampleRates rates = resample_rates(wanted["initial"].get<std::vector<float>>(),
                                               wanted["target"].get<std::vector<float>>());
    CHECK(rates.original == wanted["original"].get<float>());
    CHECK(rates.acceptance == wanted["acceptance"].get<std::vector<float>>());
  }
}

TEST_CASE("resampled classes are as frequent as TensorFlow's", "[data][resample]") {
  const auto labelled = [](int64_t classes) {
    return Dataset::range(20'000).map(
        [classes](const Batch& e) { return Batch{Tensor((value_of(e) * 7919 + 13) % classes)}; });
  };
  const std::vector<float> half = {0.5f, 0.5f};
  const std::vector<std::tuple<std::string, int64_t, std::vector<float>, ResampleOptions>> kCases =
      {{"equal", 2, half, {half, 3}},
       {"one class", 2, {1, 0}, {half, 3}},
       {"given", 2, {0.8f, 0.2f}, {half, 3}},
       {"estimated", 2, {0.8f, 0.2f}, {{}, 3}},
       {"three", 3, {0.1f, 0.3f, 0.6f}, {{}, 3}}};
  for (const auto& [name, classes, target, options] : kCases) {
    const Dataset resampled = labelled(classes).rejection_resample(value_of, target, options);
    Numbers counts(size_t(classes), 0);
    for (const Batch& element : resampled) {
      REQUIRE(element.x.item<int32_t>() == element.y.item<int64_t>());
      ++counts[size_t(element.x.item<int32_t>())];
    }
    // Five standard deviations of a count of this size, and of TensorFlow's.
    const auto wanted = tensorflow_case("rejection_resample " + name).get<Numbers>();
    for (size_t i = 0; i < wanted.size(); ++i)
      CHECK(std::abs(counts[i] - wanted[i]) <=
            (name == "equal" || name == "one class" ? 0 : int64_t(7 * std::sqrt(wanted[i]))));
  }
}

TEST_CASE("resampling goes on from every position and draws anew in each pass",
          "[data][resample]") {
  for (const bool given : {false, true}) {
    ResampleOptions options{.seed = 5};
    if (given) options.initial_dist = {0.5f, 0.5f};
    const Dataset resampled = Dataset::range(90).rejection_resample(parity, {0.8f, 0.2f}, options);
    CHECK(to_string(resampled.element_spec()) == "([] int32, [] int64)");
    CHECK(resampled.cardinality() == kUnknownCardinality);
    const auto make = [&] {
      return Dataset::range(90).rejection_resample(parity, {0.8f, 0.2f}, options);
    };
    CHECK(elements_as_json(make()) == elements_as_json(make()));
    const Dataset twice = make();
    CHECK(elements_as_json(twice) != elements_as_json(twice));
    Iterator it = make().iterator();
    for (int i = 0; i < 40; ++i) {
      Iterator other = make().iterator();
      other.restore(it.state());
      const Batch next = it.next();
      CHECK(as_json(other.next()) == as_json(next));
    }
  }
  const auto outside = [](const Batch& e) { return value_of(e); };
  CHECK_THROWS_SAYING(elements_of(Dataset::range(9).rejection_resample(outside, {0.5f, 0.5f})),
                      InvalidArgumentError, "the class 2 of an element is not in [0, 2)");
  CHECK_THROWS_AS(Dataset::range(9).rejection_resample(parity, {}), InvalidArgumentError);
  CHECK_THROWS_AS(
      Dataset::range(9).rejection_resample(parity, {0.5f, 0.5f}, {.initial_dist = {1.0f}}),
      InvalidArgumentError);
}
