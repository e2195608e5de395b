// Against Keras: answers.json. Discretization, Hashing and CategoryEncoding.
#include <distribute/preprocessing/categories.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

#include <tests/preprocessing/keras_answers.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::preprocessing;

namespace {

Tensor many() {
  const nlohmann::json rows = keras_answer("many")["value"];
  std::vector<float> values;
  for (const auto& row : rows)
    for (const auto& value : row) values.push_back(value.get<float>());
  return Tensor(Shape{int64_t(rows.size()), 2}, values);
}

void check_boundaries(const std::string& name, const DiscretizationOptions& options) {
  INFO(name);
  Discretization whole(options), batches(options);
  whole.adapt(many());
  batches.adapt(data::Dataset::from_tensor_slices(many()).batch(25));
  CHECK(is_near(whole.bin_boundaries(), keras_answer("boundaries " + name)["value"], 1e-6));
  CHECK(is_near(batches.bin_boundaries(), keras_answer("boundaries in batches " + name)["value"],
                1e-6));
}

}  // namespace

TEST_CASE("Discretization numbers ranges as Keras", "[preprocessing][discretization]") {
  const Tensor asked(Shape{2, 4}, std::vector<float>{-1.5, 1.0, 3.4f, 0.5, 0.0, 3.0, 1.3f, 0.0});
  const auto binned = [&](OutputMode mode) {
    return Discretization({.bin_boundaries = {0, 1, 2}, .output_mode = mode})(asked);
  };
  check_answer("binned", binned(OutputMode::Int));
  check_answer("binned one_hot", binned(OutputMode::OneHot));
  check_answer("binned multi_hot", binned(OutputMode::MultiHot));
  check_answer("binned count", binned(OutputMode::Count));
}

TEST_CASE("Discretization learns Keras's quantiles", "[preprocessing][discretization]") {
  check_boundaries("4", {.num_bins = 4});
  check_boundaries("5 coarse", {.num_bins = 5, .epsilon = 0.1});
  Discretization layer({.num_bins = 4});
  CHECK_THROWS_AS(layer(many()), FailedPreconditionError);
  CHECK_THROWS_AS(Discretization({}), InvalidArgumentError);
  CHECK_THROWS_AS(Discretization({.bin_boundaries = {1}, .num_bins = 2}), InvalidArgumentError);
  CHECK_THROWS_AS(Discretization({.bin_boundaries = {2, 1}}), InvalidArgumentError);
  CHECK_THROWS_AS(Discretization({.bin_boundaries = {1}}).adapt(many()), FailedPreconditionError);
}

TEST_CASE("Hashing fills TensorFlow's buckets", "[preprocessing][hashing]") {
  CHECK_THROWS_AS(Hashing(0), InvalidArgumentError);
  if (!preprocessing_internal::has_farmhash()) {
    CHECK_THROWS_SAYING(Hashing(3)(strings_tensor({"a"})), UnimplementedError, "libfarmhash-dev");
    return;
  }
  const Tensor letters = strings_tensor(
      {"A", "B", "C", "a longer text that has more than thirty-two bytes", ""}, {5, 1});
  check_answer("hashed", Hashing(3)(letters));
  check_answer("hashed wide", Hashing(1'000'000)(letters));
  check_answer("hashed masked", Hashing({.num_bins = 3, .mask_value = ""})(letters));
  check_answer("hashed integers",
               Hashing(1000)(Tensor(Shape{3, 1}, std::vector<int64_t>{5, -3, 0})));
  check_answer("hashed multi_hot", Hashing({.num_bins = 4, .output_mode = OutputMode::MultiHot})(
                                       strings_tensor({"A", "B", "C", "A"}, {2, 2})));
}

TEST_CASE("HashedCrossing fills TensorFlow's buckets", "[preprocessing][hashing]") {
  const Tensor numbers(Shape{5, 1}, std::vector<int64_t>{1, -2, 3, 1'000'000'000'000, 0});
  const Tensor flat = reshape(numbers, {5}), three = flat.rows(0, 3), one(int64_t{1});
  const HashedCrossing vectors({.num_bins = 5, .output_mode = OutputMode::OneHot});
  check_answer("crossed integers", HashedCrossing(50)({cast(three, DType::Int32), three}));
  check_answer("crossed one_hot", vectors({numbers, numbers}));
  check_answer("crossed one_hot vectors", vectors({flat, flat}));
  check_answer("crossed scalars", HashedCrossing(5)({one, one}));
  check_answer("crossed one_hot scalars", vectors({one, one}));
  CHECK_THROWS_AS(HashedCrossing(0), InvalidArgumentError);
  CHECK_THROWS_AS(HashedCrossing({.num_bins = 3, .output_mode = OutputMode::Count}),
                  InvalidArgumentError);
  CHECK_THROWS_SAYING(vectors({flat}), InvalidArgumentError, "two or more inputs");
  CHECK_THROWS_SAYING(vectors({flat, numbers}), InvalidArgumentError, "one shape");
  CHECK_THROWS_SAYING(vectors({cast(flat, DType::Float32), flat}), InvalidArgumentError, "float32");
  const Tensor square(Shape{2, 2}, std::vector<int64_t>{1, 2, 3, 4});
  CHECK_THROWS_SAYING(vectors({square, square}), InvalidArgumentError, "[batch, 1]");
  const std::vector<std::string> words{"A", "B", "C",
                                       "a longer text that has more than thirty-two bytes", ""};
  const Tensor letters = strings_tensor(words, {5, 1});
  if (!preprocessing_internal::has_farmhash()) {
    CHECK_THROWS_SAYING(HashedCrossing(3)({letters, numbers}), UnimplementedError,
                        "libfarmhash-dev");
    return;
  }
  const Tensor reversed = strings_tensor({words.rbegin(), words.rend()}, {5, 1});
  check_answer("crossed", HashedCrossing(1000)({letters, numbers}));
  check_answer("crossed three", HashedCrossing(7)({letters, reversed, numbers}));
}

TEST_CASE("a salt hashes with SipHash as TensorFlow", "[preprocessing][hashing]") {
  const Hashing salted({.num_bins = 1000, .salt = {{133, 137}}});
  const Tensor letters = strings_tensor(
      {"A", "B", "C", "a longer text that has more than thirty-two bytes", ""}, {5, 1});
  if (!preprocessing_internal::has_keyed_hash()) {
    CHECK_THROWS_SAYING(salted(letters), UnimplementedError, "libssl-dev");
    return;
  }
  check_answer("hashed salted", salted(letters));
  check_answer("hashed salted once", Hashing({.num_bins = 1000, .salt = 133})(letters));
  check_answer("hashed salted masked",
               Hashing({.num_bins = 1000, .mask_value = "A", .salt = 133})(letters));
}

TEST_CASE("CategoryEncoding makes Keras's vectors", "[preprocessing][category_encoding]") {
  const Tensor ids(Shape{2, 3}, std::vector<int64_t>{3, 2, 0, 0, 1, 1});
  const auto encoded = [&](OutputMode mode) {
    return CategoryEncoding({.num_tokens = 4, .output_mode = mode})(ids);
  };
  check_answer("encoded one_hot", encoded(OutputMode::OneHot));
  check_answer("encoded multi_hot", encoded(OutputMode::MultiHot));
  check_answer("encoded count", encoded(OutputMode::Count));
  const CategoryEncoding count({.num_tokens = 4, .output_mode = OutputMode::Count});
  const Tensor weights(Shape{2, 3}, std::vector<float>{0.5, 2, 1, 3, 0.25, 1});
  check_answer("encoded weights", count(ids, weights));
  CHECK_THROWS_SAYING(count(Tensor{int64_t{4}}), InvalidArgumentError, "must be in [0, 4), got 4");
  CHECK_THROWS_AS(count(ids, weights.rows(0, 1)), InvalidArgumentError);
  CHECK_THROWS_AS(count(ids.view({1, 2, 3})), InvalidArgumentError);
  CHECK_THROWS_AS(CategoryEncoding({.num_tokens = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(CategoryEncoding({.num_tokens = 2, .output_mode = OutputMode::Int}),
                  InvalidArgumentError);
}
