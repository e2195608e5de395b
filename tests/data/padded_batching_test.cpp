// Against TensorFlow: sequences/answers.json.
#include <distribute/data/grouping.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

/// Six rows of 1 to 6 numbers.
Dataset rows_of_numbers() {
  using Row = std::vector<int64_t>;
  static const std::vector<Row> kRows = {
      {0}, {1, 2, 3, 4}, {5, 6, 7}, {7, 8, 9, 10, 11}, {13, 14, 15, 16, 19, 20}, {21, 22}};
  return Dataset::from_generator(
      [] {
        return [at = size_t{0}]() mutable -> std::optional<Batch> {
          if (at == kRows.size()) return std::nullopt;
          const Row& row = kRows[at++];
          return Batch{Tensor(Shape{int64_t(row.size())}, row)};
        };
      },
      {{{-1}, DType::Int64}});
}

int64_t length_of(const Batch& row) { return row.x.shape()[0]; }

Dataset buckets(std::vector<int64_t> boundaries, std::vector<int64_t> sizes,
                const BucketOptions& options = {}) {
  return rows_of_numbers().bucket_by_sequence_length(length_of, std::move(boundaries),
                                                     std::move(sizes), options);
}

}  // namespace

TEST_CASE("padded_batch pads as TensorFlow", "[data][padded_batching]") {
  const Dataset rows = rows_of_numbers();
  CHECK(answer_of(rows.padded_batch(4)) == tensorflow_answer("padded"));
  CHECK(to_string(rows.padded_batch(4).element_spec()) == "([-1, -1] int64)");
  const Dataset wide = rows.padded_batch(
      4, {.padded_shapes = {{8}}, .padding_values = {int64_t{9}}, .drop_remainder = true});
  CHECK(answer_of(wide) == tensorflow_answer("padded to 8 with 9"));
  CHECK(to_string(wide.element_spec()) == "([4, 8] int64)");
  CHECK(compute_batch_size(*wide.prefetch().node()) == 4);
  CHECK(resumes_everywhere(rows.padded_batch(2)));
}

TEST_CASE("padded_batch pads every axis and component by itself", "[data][padded_batching]") {
  const auto matrix = [](const Batch& number) {
    const int64_t n = number.x.item<int64_t>();
    return Batch{fill(Shape{n, 5 - n}, float(n), DType::Int64), number.x};
  };
  const Dataset padded = Dataset::range(1, 5).map(matrix).padded_batch(
      2, {.padded_shapes = {{-1, 4}, {}}, .padding_values = {int64_t{-1}, int64_t{0}}});
  CHECK(answer_of(padded) == tensorflow_answer("padded matrices"));
}

TEST_CASE("padded_batch says what does not fit", "[data][padded_batching]") {
  const Dataset rows = rows_of_numbers();
  const auto first = [](const Dataset& dataset) { return dataset.iterator().next(); };
  CHECK_THROWS_SAYING(first(rows.padded_batch(2, {.padded_shapes = {{3}}})), InvalidArgumentError,
                      "longer than the padded shape, whose axis 0 is 3");
  CHECK_THROWS_SAYING(first(rows.padded_batch(2, {.padded_shapes = {{3, 3}}})),
                      InvalidArgumentError, "padded shape 2");
  CHECK_THROWS_SAYING(first(rows.padded_batch(2, {.padding_values = {1.0f}})), InvalidArgumentError,
                      "not a scalar int64");
  CHECK_THROWS_AS(rows.padded_batch(0), InvalidArgumentError);
}

TEST_CASE("bucket_by_sequence_length groups as TensorFlow", "[data][padded_batching]") {
  CHECK(answer_of(buckets({3, 5}, {2, 2, 2})) == tensorflow_answer("buckets"));
  CHECK(answer_of(buckets({3, 5}, {4, 3, 1})) == tensorflow_answer("buckets of other sizes"));
  CHECK(answer_of(buckets({3, 5}, {4, 1, 1}, {.drop_remainder = true})) ==
        tensorflow_answer("buckets without remainder"));
  CHECK(answer_of(buckets({3, 7}, {2, 2, 2}, {.pad_to_bucket_boundary = true})) ==
        tensorflow_answer("buckets to boundary"));
  CHECK(answer_of(buckets({3, 5}, {2, 2, 2}, {.padding_values = {int64_t{-1}}})) ==
        tensorflow_answer("buckets with -1"));
  CHECK(resumes_everywhere(buckets({3, 5}, {4, 3, 1})));
  CHECK(resumes_everywhere(
      rows_of_numbers().repeat(3).bucket_by_sequence_length(length_of, {3, 5}, {4, 3, 2})));
}

TEST_CASE("bucket_by_sequence_length says what does not fit", "[data][padded_batching]") {
  CHECK_THROWS_AS(buckets({3, 5}, {2, 2}), InvalidArgumentError);
  CHECK_THROWS_AS(buckets({5, 3}, {2, 2, 2}), InvalidArgumentError);
  CHECK_THROWS_AS(buckets({3}, {2, 2}, {.pad_to_bucket_boundary = true, .no_padding = true}),
                  InvalidArgumentError);
  const Dataset too_long = buckets({3, 5}, {2, 2, 2}, {.pad_to_bucket_boundary = true});
  CHECK_THROWS_SAYING(elements_as_json(too_long), InvalidArgumentError, "the last boundary, 5");
  const Dataset equal = buckets({}, {2}, {.no_padding = true});
  CHECK_THROWS_AS(equal.iterator().next(), InvalidArgumentError);
}
