// Numbers are those of TensorFlow 2.21 with the same calls of tf.data.experimental.
#include <distribute/data/grouping.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

int64_t value_of(const Batch& element) { return element.x.item<int64_t>(); }
Tensor number(int64_t value) { return Tensor(Shape{}, std::vector<int64_t>{value}); }

Reducer sums() {
  return {[](int64_t) { return to_batch(number(0)); },
          [](const Batch& state, const Batch& element) {
            return to_batch(number(value_of(state) + value_of(element)));
          },
          [](const Batch& state) { return state; }};
}

auto modulo(int64_t by) {
  return [by](const Batch& element) { return value_of(element) % by; };
}

Dataset named() {
  return Dataset::from_tensor_slices(
      TensorMap{{"a", Tensor(Shape{2}, std::vector<int32_t>{1, 2})}});
}

}  // namespace

TEST_CASE("group_by_reducer gives a result for each key, from the smallest on", "[data][group]") {
  const Dataset thirds = Dataset::range(10).apply(group_by_reducer(modulo(3), sums()));
  CHECK(scalars_of(thirds) == Numbers{18, 12, 15});
  CHECK(thirds.cardinality() == kUnknownCardinality);
  CHECK(to_string(thirds.element_spec()) == "([] int64)");
  CHECK(keeps_the_contract(thirds));
  const Dataset mixed =
      Dataset::from_tensor_slices(Tensor(Shape{6}, std::vector<int64_t>{7, 2, 5, 1, 9, 4}));
  CHECK(scalars_of(mixed.apply(group_by_reducer(modulo(4), sums()))) == Numbers{4, 15, 2, 7});
  CHECK(scalars_of(Dataset::range(0).apply(group_by_reducer(modulo(4), sums()))).empty());
}

TEST_CASE("the state of group_by_reducer knows its key", "[data][group]") {
  // TensorFlow: [(0, 9.0), (1, 7.5), (2, 6.0)] for keys -x % 3, halves of the sums.
  const Reducer halves{[](int64_t key) {
                         return Batch{number(0), number(key)};
                       },
                       [](const Batch& state, const Batch& element) {
                         return Batch{number(value_of(state) + value_of(element)), state.y};
                       },
                       [](const Batch& state) {
                         return Batch{state.y, Tensor(float(value_of(state)) / 2)};
                       }};
  const Dataset grouped = Dataset::range(10).apply(group_by_reducer(
      [](const Batch& element) { return (3 - value_of(element) % 3) % 3; }, halves));
  std::vector<std::pair<int64_t, float>> got;
  for (const Batch& result : grouped) got.emplace_back(value_of(result), result.y.item<float>());
  CHECK(got == std::vector<std::pair<int64_t, float>>{{0, 9.0f}, {1, 7.5f}, {2, 6.0f}});
  check_throws<InvalidArgumentError>(
      [&] { Dataset::range(3).repeat().apply(group_by_reducer(modulo(3), sums())); },
      "group_by_reducer: the dataset never ends");
}

TEST_CASE("pad_to_cardinality adds zeros and says which elements are true", "[data][group]") {
  const Dataset padded = named().apply(pad_to_cardinality(4, "m"));
  CHECK(padded.cardinality() == 4);
  CHECK(keeps_the_contract(padded));
  std::vector<std::pair<int32_t, bool>> got;
  for (const Batch& element : padded)
    got.emplace_back(element["a"].item<int32_t>(), element["m"].item<bool>());
  CHECK(got == std::vector<std::pair<int32_t, bool>>{{1, true}, {2, true}, {0, false}, {0, false}});
  CHECK(to_string(named().apply(pad_to_cardinality(3)).element_spec()) ==
        to_string(ElementSpec{{{}, DType::Int32, "a"}, {{}, DType::Bool, "valid"}}));
  CHECK(named().apply(pad_to_cardinality(2)).cardinality() == 2);
  CHECK(named().take(0).apply(pad_to_cardinality(3)).cardinality() == 3);
}

// TensorFlow refuses the same, except that a mask_key that is taken replaces the component.
TEST_CASE("what cannot be padded to a cardinality is refused", "[data][group]") {
  const auto refused = [](const Dataset& dataset, const std::string& key, const char* words) {
    check_throws<InvalidArgumentError>([&] { dataset.apply(pad_to_cardinality(1, key)); }, words);
  };
  refused(named(), "valid", "the dataset has 2 elements, more than 1");
  refused(named().take(1), "a", "have a component \"a\" already");
  refused(Dataset::range(1), "valid", "need names");
  refused(named().repeat(), "valid", "the number of elements must be known");
  refused(named().filter([](const Batch&) { return true; }), "valid", "must be known");
}
