// Against Keras: answers.json.
#include <distribute/preprocessing/text_vectorization.hpp>

#include <distribute/data/files.hpp>
#include <distribute/ops/array.hpp>

#include <tests/preprocessing/keras_answers.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>

using namespace distribute;
using namespace distribute::preprocessing;

namespace {

Tensor texts() {
  return strings_tensor({"The quick  brown fox.", "Jumps over\tthe lazy dog!", "the dog; the FOX",
                         "\u00dcber m\u00fcde"});
}

void check_texts(const std::string& name, const TextVectorizationOptions& options,
                 const Tensor& asked = texts()) {
  TextVectorization layer(options);
  if (options.vocabulary.empty()) layer.adapt(texts());
  check_answer(name, layer(asked), 1e-6);
  INFO(name);
  CHECK(nlohmann::json(layer.get_vocabulary()) == keras_answer(name + " vocabulary")["value"]);
}

}  // namespace

TEST_CASE("texts become numbers of words as in Keras", "[preprocessing][text_vectorization]") {
  check_texts("text", {});
  check_texts("text of 3", {.output_sequence_length = 3});
  check_texts("text of 8", {.max_tokens = 6, .output_sequence_length = 8});
  check_texts("text lower", {.standardize = Standardize::Lower});
  check_texts("text strip", {.standardize = Standardize::StripPunctuation});
  check_texts("text as is", {.standardize = Standardize::None});
  check_texts("text characters", {.split = Split::Character}, strings_tensor({"Dog \u00fc"}));
  check_texts("text whole", {.standardize = Standardize::Lower, .split = Split::None});
  check_texts("text given", {.vocabulary = {"the", "dog"}});
}

TEST_CASE("texts become runs and counts of words as in Keras",
          "[preprocessing][text_vectorization]") {
  check_texts("text bigrams", {.ngrams = 2, .output_sequence_length = 6});
  check_texts("text trigrams", {.ngram_widths = {3}, .output_mode = OutputMode::Count});
  check_texts("text multi_hot", {.max_tokens = 5, .output_mode = OutputMode::MultiHot});
  check_texts("text padded",
              {.max_tokens = 20, .output_mode = OutputMode::MultiHot, .pad_to_max_tokens = true});
  check_texts("text tf_idf", {.output_mode = OutputMode::TfIdf});
}

TEST_CASE("lines of a file are vectorized in a dataset", "[preprocessing][text_vectorization]") {
  const TemporaryDirectory root;
  std::ofstream(root.path() + "/lines") << "The quick  brown fox.\nJumps over\tthe lazy dog!\n"
                                        << "the dog; the FOX\n\u00dcber m\u00fcde\n";
  const auto lines = data::text_line_dataset({root.path() + "/lines"});
  TextVectorization layer({.output_sequence_length = 3});
  layer.adapt(lines);
  const auto numbers =
      lines.map([&](const data::Batch& line) { return layer(line.x); }, {.num_parallel_calls = 2});
  const data::Batch all = numbers.batch(4).iterator().next();
  check_answer("text of 3", all.x);
}

TEST_CASE("own ways to standardize and split", "[preprocessing][text_vectorization]") {
  const TextVectorization layer(
      {.custom_standardize = [](const std::string& text) { return text + ",c"; },
       .custom_split =
           [](const std::string& text) {
             return Strings{text.substr(0, 1), text.substr(2, 1), text.substr(4)};
           },
       .vocabulary = {"a", "b", "c"}});
  CHECK(as_json(layer(strings_tensor({"a,b"}))) == nlohmann::json({{2, 3, 4}}));
  CHECK(layer.tokens_of("x-y") == Strings{"x", "y", "c"});
}

TEST_CASE("options that exclude each other are refused", "[preprocessing][text_vectorization]") {
  const auto refuses = [](const TextVectorizationOptions& options, const std::string& text) {
    check_throws<InvalidArgumentError>([&] { TextVectorization layer(options); }, text);
  };
  refuses({.output_mode = OutputMode::Count, .output_sequence_length = 3}, "for the mode Int");
  refuses({.ngrams = 2, .ngram_widths = {3}}, "excludes ngram_widths");
  refuses({.split = Split::None, .ngrams = 2}, "need tokens");
  refuses({.output_sequence_length = 0}, "at least 1");
  refuses({.ngram_widths = {0}}, "at least 1");
  const TextVectorization layer({.vocabulary = {"a"}});
  CHECK_THROWS_SAYING(layer(strings_tensor({"a", "b"}, {1, 2})), InvalidArgumentError,
                      "[batch] or [batch, 1]");
}

// The values are those of tf.keras.utils.pad_sequences.
TEST_CASE("sequences of different lengths become a tensor", "[preprocessing][pad_sequences]") {
  const auto values = [](const Tensor& x) { return cast(x, DType::Float32).to_vector(); };
  const std::vector<std::vector<int>> four{{1, 2, 3, 4}, {5}, {}, {6, 7}};
  const Tensor plain = pad_sequences(four);
  CHECK(plain.shape() == Shape{4, 4});
  CHECK(plain.dtype() == DType::Int32);
  CHECK(values(plain) == std::vector<float>{1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 6, 7});
  CHECK(values(pad_sequences(four, {.maxlen = 2})) == std::vector<float>{3, 4, 0, 5, 0, 0, 6, 7});
  CHECK(values(pad_sequences(four, {.maxlen = 3, .truncating = SequenceEnd::Post})) ==
        std::vector<float>{1, 2, 3, 0, 0, 5, 0, 0, 0, 0, 6, 7});
  CHECK(values(pad_sequences(four, {.maxlen = 3,
                                    .padding = SequenceEnd::Post,
                                    .truncating = SequenceEnd::Post,
                                    .value = -1})) ==
        std::vector<float>{1, 2, 3, 5, -1, -1, -1, -1, -1, 6, 7, -1});
  CHECK(pad_sequences(four, {.maxlen = 2, .dtype = DType::Float32, .value = 0.5}).to_vector() ==
        std::vector<float>{3, 4, 0.5, 5, 0.5, 0.5, 6, 7});
  const std::vector<std::vector<double>> fractions{{1.7, -2.7}, {0.5}};
  CHECK(values(pad_sequences(fractions)) == std::vector<float>{1, -2, 0, 0});
  CHECK(values(pad_sequences({{1, 2}, {3}})) == std::vector<float>{1, 2, 0, 3});
  const std::vector<std::vector<double>> large{{16'777'217.0}};  // no float32
  CHECK(pad_sequences(large, {.dtype = DType::Int64}).item<int64_t>() == 16'777'217);
  const std::vector<std::vector<int>> nothing(1);
  const Tensor filled =
      pad_sequences(nothing, {.maxlen = 1, .dtype = DType::Float32, .value = NAN});
  CHECK(std::isnan(filled.item<float>()));
  check_throws<InvalidArgumentError>([&] { pad_sequences(four, {.value = NAN}); },
                                     "int32 has no value");
  CHECK(pad_sequences(std::vector<std::vector<int64_t>>(2)).shape() == Shape{2, 0});
  check_throws<InvalidArgumentError>([&] { pad_sequences(four, {.maxlen = 0}); },
                                     "maxlen must be positive, got 0");
  check_throws<InvalidArgumentError>([] { pad_sequences(std::vector<std::vector<int>>()); },
                                     "there is no sequence");
}
