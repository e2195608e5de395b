// Against Keras: answers.json.
#include <distribute/preprocessing/text_vectorization.hpp>

#include <distribute/preprocessing/detail/string_hash.hpp>

#include <tests/preprocessing/keras_answers.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::preprocessing;

namespace {

Tensor words() {
  return strings_tensor({"fig", "apple", "pear", "fig", "fig", "", "kiwi", "[UNK]"}, {4, 2});
}
Tensor asked() { return strings_tensor({"fig", "plum", "apple", "", "melon", "kiwi"}, {3, 2}); }
Tensor first_of_each() { return strings_tensor({"fig", "apple", "melon"}); }
Tensor numbers(const std::vector<int64_t>& values) {
  return Tensor(Shape{int64_t(values.size()) / 2, 2}, values);
}

StringLookup adapted(const StringLookupOptions& options) {
  StringLookup lookup(options);
  lookup.adapt(words());
  return lookup;
}

void check_strings(const std::string& name, const StringLookup& lookup,
                   const Tensor& input = asked()) {
  check_answer(name, lookup(input), 1e-6);
  if (!lookup.options().invert) {
    INFO(name);
    CHECK(nlohmann::json(lookup.get_vocabulary()) == keras_answer(name + " vocabulary")["value"]);
  }
}

}  // namespace

TEST_CASE("strings are tensors of bytes with zeros behind", "[preprocessing][strings]") {
  const Tensor strings = strings_tensor({"a", "bcd", ""}, {3, 1});
  CHECK(to_string(strings.shape()) == "[3, 1, 3]");
  CHECK(strings_of(strings) == Strings{"a", "bcd", ""});
  CHECK(shape_of_strings(strings) == Shape{3, 1});
  CHECK(strings_of(strings_tensor({"one"}).view({3})) == Strings{"one"});
  CHECK_THROWS_AS(strings_tensor({"a"}, {2}), InvalidArgumentError);
  CHECK_THROWS_AS(strings_of(Tensor(1.0f)), InvalidArgumentError);
}

TEST_CASE("StringLookup learns and looks up as Keras", "[preprocessing][string_lookup]") {
  check_strings("adapted", adapted({}));
  check_strings("masked", adapted({.mask_token = ""}));
  check_strings("at most 3", adapted({.max_tokens = 3}));
  check_strings("multi_hot", adapted({.mask_token = "", .output_mode = OutputMode::MultiHot}));
  check_strings("count", adapted({.mask_token = "", .output_mode = OutputMode::Count}));
  const auto one_hot = adapted({.mask_token = "", .output_mode = OutputMode::OneHot});
  check_strings("one_hot", one_hot, first_of_each().view({3, 1, 5}));
  check_strings("one_hot of vector", adapted({.output_mode = OutputMode::OneHot}), first_of_each());
  check_strings("multi_hot of vector", adapted({.output_mode = OutputMode::MultiHot}),
                first_of_each());
  const StringLookupOptions padded{
      .max_tokens = 7, .output_mode = OutputMode::Count, .pad_to_max_tokens = true};
  check_strings("padded count", adapted(padded));
}

TEST_CASE("StringLookup weighs by documents as Keras", "[preprocessing][string_lookup]") {
  check_strings("tf_idf", adapted({.output_mode = OutputMode::TfIdf}));
  check_strings(
      "padded tf_idf",
      adapted({.max_tokens = 7, .output_mode = OutputMode::TfIdf, .pad_to_max_tokens = true}));
  check_strings("given tf_idf", StringLookup({.vocabulary = {"fig", "apple"},
                                              .idf_weights = {0.25f, 1.5f},
                                              .output_mode = OutputMode::TfIdf}));
}

TEST_CASE("a dataset teaches the same as its rows at once", "[preprocessing][string_lookup]") {
  StringLookup lookup({.output_mode = OutputMode::TfIdf});
  lookup.adapt(data::Dataset::from_tensor_slices(words()).batch(3));
  check_strings("tf_idf", lookup);
  CHECK_THROWS_AS(lookup.adapt(data::Dataset::from_tensor_slices(words()).repeat()),
                  InvalidArgumentError);
}

TEST_CASE("unknown strings go to TensorFlow's buckets", "[preprocessing][string_lookup]") {
  if (!preprocessing_internal::has_farmhash()) {
    WARN("skipped: this build has no FarmHash");
    return;
  }
  StringLookupOptions options{.num_oov_indices = 3, .vocabulary = {"fig", "apple"}};
  check_strings("3 oov", StringLookup(options));
  options.mask_token = "";
  check_strings("3 oov masked", StringLookup(options));
}

TEST_CASE("a salt puts unknown strings elsewhere, as in TensorFlow",
          "[preprocessing][string_lookup]") {
  CHECK_THROWS_SAYING(IntegerLookup({.salt = 3}), InvalidArgumentError, "a salt is for strings");
  if (!preprocessing_internal::has_keyed_hash()) return;
  check_strings("salted",
                StringLookup({.num_oov_indices = 30, .vocabulary = {"fig"}, .salt = {{3, 9}}}));
}

TEST_CASE("an inverted lookup gives the strings back", "[preprocessing][string_lookup]") {
  check_strings("inverted", StringLookup({.vocabulary = {"fig", "apple"}, .invert = true}),
                numbers({0, 1, 2, 9}));
  check_strings("inverted masked",
                StringLookup({.mask_token = "-", .vocabulary = {"fig", "apple"}, .invert = true}),
                numbers({0, 1, 2, 3}));
}

TEST_CASE("IntegerLookup learns and looks up as Keras", "[preprocessing][string_lookup]") {
  const Tensor seen = numbers({12, 1138, 42, 12, 12, -7, 42, 100});
  const Tensor two = numbers({12, 5, 42, -7});
  IntegerLookup plain, masked({.mask_token = 12}), count({.output_mode = OutputMode::Count});
  for (IntegerLookup* lookup : {&plain, &masked, &count}) lookup->adapt(seen);
  check_answer("integers", plain(two));
  CHECK(nlohmann::json(plain.get_vocabulary()) == keras_answer("integers vocabulary")["value"]);
  check_answer("integers masked", masked(two));
  check_answer("integers count", count(numbers({12, 5, 42, 42})));
  check_answer("integers 3 oov", IntegerLookup({.num_oov_indices = 3, .vocabulary = {12, 42}})(
                                     numbers({12, 5, -7, 3})));
  check_answer("integers inverted",
               IntegerLookup({.vocabulary = {12, 42}, .invert = true})(numbers({0, 1, 2, 9})));
}

TEST_CASE("a vocabulary is written and read", "[preprocessing][string_lookup]") {
  const TemporaryDirectory root;
  const std::string path = root.path() + "/vocabulary.txt";
  const StringLookup learned = adapted({.max_tokens = 4, .mask_token = ""});
  learned.save_vocabulary(path);
  const StringLookup read({.mask_token = "", .vocabulary_file = path});
  CHECK(read.get_vocabulary() == learned.get_vocabulary());
  CHECK(read.get_vocabulary(false) == Strings{"fig", "pear"});
  std::ofstream(path) << "b\r\na\n\n";
  CHECK(StringLookup({.vocabulary_file = path}).get_vocabulary(false) == Strings{"b", "a"});
  CHECK_THROWS_SAYING(IntegerLookup({.vocabulary_file = path}), InvalidArgumentError,
                      "not an integer: \"b\"");
  CHECK_THROWS_AS(StringLookup({.vocabulary_file = root.path() + "/none"}), NotFoundError);
}

TEST_CASE("lookups say what does not fit", "[preprocessing][string_lookup]") {
  const auto refuses = [](const StringLookupOptions& options, const std::string& text) {
    check_throws<InvalidArgumentError>([&] { StringLookup lookup(options); }, text);
  };
  refuses({.max_tokens = 1}, "greater than 1");
  refuses({.pad_to_max_tokens = true}, "needs max_tokens");
  refuses({.num_oov_indices = -1}, "must not be negative");
  refuses({.invert = true, .output_mode = OutputMode::Count}, "mode Int");
  refuses({.vocabulary = {"a"}, .vocabulary_file = "b"}, "exclude each other");
  refuses({.vocabulary = {"a", "a"}}, "\"a\" more than once");
  refuses({.max_tokens = 2, .vocabulary = {"a", "b"}}, "more than max_tokens = 2");
  refuses({.mask_token = "", .vocabulary = {"a", ""}}, "stands for masked");
  refuses({.vocabulary = {"a"}, .idf_weights = {1}}, "mode TfIdf");
  refuses({.vocabulary = {"a"}, .output_mode = OutputMode::TfIdf}, "needs idf_weights");
  StringLookup strict({.num_oov_indices = 0, .vocabulary = {"a"}});
  CHECK_THROWS_SAYING(strict(strings_tensor({"b"})), InvalidArgumentError,
                      "\"b\" is not in the vocabulary");
  CHECK_THROWS_AS(strict.adapt(words()), FailedPreconditionError);
  CHECK_THROWS_AS(StringLookup({.output_mode = OutputMode::Count})(words()),
                  FailedPreconditionError);
  CHECK_THROWS_AS(strict(Tensor{1.0f}), InvalidArgumentError);
}

TEST_CASE("a dataset function looks up strings, as the tutorial of parameter servers",
          "[preprocessing][string_lookup]") {
  const StringLookup features(
      {.num_oov_indices = 0, .vocabulary = {"avenger", "ironman", "batman"}});
  const StringLookup labels({.num_oov_indices = 0, .vocabulary = {"yes", "no"}});
  struct Example {
    Tensor features, label;
  };
  const data::Dataset dataset =
      data::Dataset::from_tensor_slices(
          Example{strings_tensor({"ironman", "batman", "avenger", "avenger"}, {2, 2}),
                  strings_tensor({"no", "yes"})})
          .map(
              [&](const Example& raw) {
                return Example{features(raw.features), labels(raw.label)};
              },
              {.num_parallel_calls = 2})
          .batch(2);
  const Example batch = dataset.iterator().next();
  CHECK(as_json(batch.features) == nlohmann::json({{1, 2}, {0, 0}}));
  CHECK(as_json(batch.label) == nlohmann::json({1, 0}));
}
