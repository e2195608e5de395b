// Against TensorFlow 2.21: tests/comparison/dataset_cases.py.
#include <distribute/data/detail/stateful.hpp>

#include <distribute/data/csv.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/files.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/math.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

int64_t value_of(const Batch& element) { return element.x.item<int64_t>(); }

std::pair<Tensor, Tensor> add(const Batch& state, const Batch& element) {
  const Tensor sum(value_of(state) + value_of(element));
  return {sum, sum};
}

struct Fibonacci {
  Tensor a, b;
};

std::pair<Fibonacci, Batch> fibonacci(const Fibonacci& state, const Batch& element) {
  return {{state.b, Tensor(state.a.item<int64_t>() + state.b.item<int64_t>())},
          Batch{element.x, state.a}};
}

Dataset numbers_from(const Numbers& values) {
  return Dataset::from_tensor_slices(Tensor(Shape{int64_t(values.size())}, values));
}

auto below(int64_t most) {
  return [most](const Batch& element) { return value_of(element) < most; };
}

}  // namespace

TEST_CASE("a scan carries its state from element to element, and through positions",
          "[data][stateful]") {
  const Dataset sums = Dataset::range(6).scan(Tensor(int64_t{0}), add);
  CHECK(case_of(sums) == tensorflow_case("scan"));
  CHECK(keeps_the_contract(sums));
  const Dataset two =
      Dataset::range(6).scan(Fibonacci{Tensor(int64_t{0}), Tensor(int64_t{1})}, fibonacci);
  CHECK(case_of(two) == tensorflow_case("scan of two states"));
  CHECK(keeps_the_contract(two));
  const auto grow = [](const Batch& state, const Batch& element) {
    const Tensor all = concat({state.x, reshape(element.x, {1})}, 0);
    return std::pair(all, all);
  };
  const Dataset growing = Dataset::range(4).scan(Tensor::empty(Shape{0}, DType::Int64), grow,
                                                 ElementSpec{{{-1}, DType::Int64}});
  CHECK(case_of(growing) == tensorflow_case("scan of a growing state"));
  CHECK(keeps_the_contract(growing));
  CHECK(case_of(Dataset::range(3).scan(Tensor(int64_t{0}), add).repeat(2)) ==
        tensorflow_case("scan repeated"));
  CHECK(case_of(Dataset::range(3).repeat().scan(Tensor(int64_t{0}), add), 7) ==
        tensorflow_case("scan without end"));
  CHECK(case_of(Dataset::range(0).scan(Tensor(int64_t{0}), add)) ==
        tensorflow_case("scan of nothing"));
  const auto other_type = [](const Batch&, const Batch& element) {
    return std::pair(Tensor(1.0f), element.x);
  };
  CHECK_THROWS_SAYING(elements_of(Dataset::range(2).scan(Tensor(int64_t{0}), other_type)),
                      InvalidArgumentError, "must match the initial state, ([] int64)");
}

TEST_CASE("take_while ends before the first element that fails", "[data][stateful]") {
  for (const auto& [name, values, most] :
       std::vector<std::tuple<std::string, Numbers, int64_t>>{{"some", {0, 1, 2, 3, 4, 5}, 4},
                                                              {"none", {7, 1, 2}, 4},
                                                              {"once more", {1, 5, 2, 9}, 5},
                                                              {"all", {1, 2}, 4}}) {
    const Dataset taken = numbers_from(values).take_while(below(most));
    CHECK(case_of(taken) == tensorflow_case("take_while " + name));
    CHECK(keeps_the_contract(taken));
  }
  CHECK(case_of(Dataset::range(9).repeat().take_while(below(4))) ==
        tensorflow_case("take_while of an endless dataset"));
}

TEST_CASE("unique gives each element at its first place", "[data][stateful]") {
  const Dataset once = numbers_from({1, 37, 2, 37, 2, 1}).unique();
  CHECK(case_of(once) == tensorflow_case("unique"));
  CHECK(keeps_the_contract(once));
  const Dataset rows =
      Dataset::from_tensor_slices(Tensor(Shape{3, 2}, std::vector<int32_t>{1, 2, 2, 1, 1, 2}));
  CHECK(case_of(rows.unique()) == tensorflow_case("unique rows"));
  CHECK(case_of(Dataset::range(4).repeat(2).batch(2).unique()) ==
        tensorflow_case("unique batches"));
  const auto rows_of = [](std::vector<Batch> elements, ElementSpec spec) {
    const auto start = [elements] {
      return [elements, i = size_t{0}]() mutable {
        return i < elements.size() ? std::optional(elements[i++]) : std::nullopt;
      };
    };
    return Dataset::from_generator(start, std::move(spec));
  };
  std::vector<Batch> texts, sizes;
  for (const char* text : {"b", "a", "b", "", "ab", ""}) texts.push_back({bytes_tensor(text)});
  CHECK(case_of(rows_of(texts, {{{-1}, DType::UInt8}}).unique()) ==
        tensorflow_case("unique strings"));
  for (const Numbers& row : std::vector<Numbers>{{1}, {1, 2}, {1}, {1, 2, 0}})
    sizes.push_back({Tensor(Shape{int64_t(row.size())}, row)});
  CHECK(case_of(rows_of(sizes, {{{-1}, DType::Int64}}).unique()) ==
        tensorflow_case("unique sizes"));
  CHECK_THROWS_SAYING(Dataset::from_tensor_slices(Tensor{1.5f, 2.5f}).unique(),
                      InvalidArgumentError, "they are ([] float32)");
  CHECK_THROWS_AS(Dataset::from_tensor_slices(Tensor{1, 1}, Tensor{2, 3}).unique(),
                  InvalidArgumentError);
}

TEST_CASE("assert_cardinality says how many there are and checks it", "[data][stateful]") {
  const Dataset some = Dataset::range(9).filter([](const Batch& e) { return value_of(e) > 2; });
  for (const int64_t count : {6, 8, 2, 0, 1, -1})
    CHECK(case_of(some.assert_cardinality(count)) ==
          tensorflow_case(str_cat("assert_cardinality ", count)));
  CHECK(keeps_the_contract(some.assert_cardinality(6)));
  CHECK(case_of(Dataset::range(3).repeat().assert_cardinality(kInfiniteCardinality), 5) ==
        tensorflow_case("assert_cardinality endless"));
  CHECK(case_of(Dataset::range(3).assert_cardinality(2).skip(3)) ==
        tensorflow_case("assert_cardinality skipped"));
  CHECK(case_of(Dataset::range(2).assert_cardinality(2).repeat(2)) ==
        tensorflow_case("assert_cardinality repeated"));
  CHECK_THROWS_SAYING(scalars_of(some.assert_cardinality(1)), FailedPreconditionError,
                      "expected to contain 1 element but contained at least 2 elements");
  CHECK_THROWS_SAYING(scalars_of(some.assert_cardinality(8)), FailedPreconditionError,
                      "expected to contain 8 elements but contained only 6 elements");
  CHECK_THROWS_AS(some.assert_cardinality(kUnknownCardinality), InvalidArgumentError);
  // The rows of a table stay rows, and shares of files do not have the promised number.
  CHECK(Dataset::range(3).assert_cardinality(3).node()->table() != nullptr);
  const Dataset files = Dataset::from_files(
      {"a", "b"}, [](const std::string& path) { return Dataset::range(path == "a" ? 1 : 2); });
  const Dataset share(auto_shard(files.assert_cardinality(3).node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(scalars_of(share) == Numbers{0, 1});
}

TEST_CASE("element i of a dataset is found by its number", "[data][stateful]") {
  const auto squared = [](const Batch& e) { return Batch{Tensor(value_of(e) * value_of(e))}; };
  const std::vector<std::pair<std::string, Dataset>> datasets = {
      {"range", Dataset::range(10, 20, 3)},
      {"map", Dataset::range(5).map(squared)},
      {"batch", Dataset::range(5).batch(2)},
      {"take", Dataset::range(5).take(2)},
      {"skip", Dataset::range(5).skip(2)},
      {"shard", Dataset::range(9).shard(3, 1)},
      {"concatenate", Dataset::range(2).concatenate(Dataset::range(10, 12))},
      {"zip", Dataset::zip({Dataset::range(3), Dataset::range(5)})},
      {"filter", Dataset::range(3).filter([](const Batch& e) { return value_of(e) > 0; })},
      {"repeat", Dataset::range(3).repeat()}};
  for (const auto& [name, dataset] : datasets) {
    auto found = nlohmann::json::array();
    for (const int64_t index : {0, 1, 2, 7, -1}) {
      try {
        found.push_back(as_json(dataset.at(index)));
      } catch (const Error& error) {
        found.push_back({{"error", error_name(error)}});
      }
    }
    CHECK(found == tensorflow_case("at " + name));
  }
  std::atomic<int> calls{0};
  const Dataset counted = Dataset::range(1000).map(
      [&](const Batch& e) {
        ++calls;
        return e;
      },
      {.output_spec = ElementSpec{{{}, DType::Int64}}});
  CHECK(value_of(counted.skip(500).at(400)) == 900);
  CHECK(calls == 1);
  const Dataset shuffled = Dataset::range(50).shuffle(50, {.seed = 4});
  const Numbers first = scalars_of(shuffled);
  for (const int64_t index : {0, 17, 49})
    CHECK(value_of(shuffled.at(index)) == first[size_t(index)]);
}

TEST_CASE("elements that cannot be made are left out", "[data][stateful]") {
  const auto odd_only = [](const Batch& b) {
    if (value_of(b) % 2 == 0) throw DataLossError("even");
    return b;
  };
  for (const int64_t threads : {1, 3}) {
    const Dataset odd = Dataset::range(9)
                            .map(odd_only, {.num_parallel_calls = threads,
                                            .output_spec = ElementSpec{{{}, DType::Int64}}})
                            .ignore_errors();
    CHECK(scalars_of(odd) == Numbers{1, 3, 5, 7});
    CHECK(keeps_the_contract(odd));
  }
  // A file that is missing is one error.
  const auto columns = std::vector<CsvDefault>{CsvType::Int32};
  CHECK(elements_of(csv_dataset({"/no/such/file"}, columns).ignore_errors()).empty());
  CHECK(elements_of(text_line_dataset({"/no/such/file"}).ignore_errors()).empty());
  CHECK(elements_of(fixed_length_record_dataset({"/no/such/file"}, 5).ignore_errors()).empty());
}

TEST_CASE("apply gives what its function makes of the dataset", "[data][stateful]") {
  const auto pairs = [](const Dataset& all) { return all.skip(1).batch(2); };
  CHECK(elements_of(Dataset::range(5).apply(pairs)) == std::vector<Numbers>{{1, 2}, {3, 4}});
}

TEST_CASE("workers share the results of a scan by data", "[data][stateful]") {
  const Dataset sums = Dataset::range(6).scan(Tensor(int64_t{0}), add);
  const Dataset second(auto_shard(sums.node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(scalars_of(second) == Numbers{1, 6, 15});
}
