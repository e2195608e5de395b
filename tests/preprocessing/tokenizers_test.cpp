// Against the packages tokenizers and sentencepiece: tokenizers/answers.json.
#include <distribute/preprocessing/tokenizers.hpp>

#include <distribute/preprocessing/detail/byte_pairs.hpp>
#include <distribute/preprocessing/detail/tokenizer_json.hpp>

#include <distribute/data/dataset.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/source_dir.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::preprocessing;
using nlohmann::json;

namespace {

std::string place(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/preprocessing/tokenizers/" + name;
}

json read_json(const std::string& name) {
  std::ifstream file(place(name));
  return json::parse(file);
}

/// Refuses the file of GPT-2's kind after a change.
void check_refused(const json& patch, const std::string& part) {
  json file = read_json("gpt2.json");
  file.merge_patch(patch);
  CHECK_THROWS_SAYING(preprocessing_internal::parse_tokenizer_json(file.dump(), "file"),
                      UnimplementedError, part);
}

void check_texts(const std::string& name, const Tokenizer& with_special, const Tokenizer& plain) {
  const json answers = read_json("answers.json");
  for (const json& one : answers.at(name)) {
    const std::string text = one["text"];
    INFO(name << ": " << text);
    const std::vector<int64_t> ids = with_special.encode(text);
    CHECK(ids == one["ids"].get<std::vector<int64_t>>());
    CHECK(plain.encode(text) == one["plain"].get<std::vector<int64_t>>());
    CHECK(with_special.decode(ids) == one["decoded"].get<std::string>());
  }
}

bool has_sentence_piece() {
  try {
    SentencePieceTokenizer tokenizer(place("unigram.model"));
    return true;
  } catch (const UnimplementedError& error) {
    CHECK(std::string(error.what()).find("libsentencepiece-dev") != std::string::npos);
    return false;
  }
}

}  // namespace

TEST_CASE("tokenizer.json gives the numbers of Hugging Face's tokenizers",
          "[preprocessing][tokenizers]") {
  if (!preprocessing_internal::has_patterns()) {
    CHECK_THROWS_SAYING(BytePairTokenizer(place("gpt2.json")), UnimplementedError, "libpcre2-dev");
    return;
  }
  for (const std::string name : {"gpt2", "prefixed", "llama3"})
    check_texts(name, BytePairTokenizer(place(name + ".json")),
                BytePairTokenizer(place(name + ".json"), {.add_special_tokens = false}));
  const BytePairTokenizer tokenizer(place("llama3.json"), {.skip_special_tokens = false});
  CHECK(tokenizer.vocabulary_size() == 311);
  CHECK(tokenizer.token_to_id("<|end|>") == 0);
  CHECK(tokenizer.token_to_id(" the").has_value());
  CHECK_FALSE(tokenizer.token_to_id("zebra").has_value());
  CHECK(tokenizer.decode(tokenizer.encode("the")) == "<|end|>the");
  CHECK_THROWS_SAYING(tokenizer.decode(std::vector<int64_t>{9999}), InvalidArgumentError, "9999");
  CHECK_THROWS_SAYING(tokenizer.encode("\xff"), InvalidArgumentError, "UTF-8");
}

TEST_CASE("byte pairs are joined in the order of learning", "[preprocessing][tokenizers]") {
  using preprocessing_internal::BytePairs;
  const BytePairs pairs({{"a", 0}, {"b", 1}, {"ab", 2}, {"aba", 3}, {"ba", 4}},
                        {{"b", "a"}, {"a", "b"}, {"ab", "a"}}, false, {});
  const auto encoded = [](const BytePairs& with, const std::string& word) {
    std::vector<int64_t> ids;
    with.encode(word, ids);
    return ids;
  };
  CHECK(encoded(pairs, "abab") == std::vector<int64_t>{0, 4, 1});
  CHECK(encoded(pairs, "abcb") == std::vector<int64_t>{2, 1});  // c is no token
  const BytePairs whole({{"a", 0}, {"b", 1}, {"aba", 3}, {"?", 7}}, {}, true, 7);
  CHECK(encoded(whole, "aba") == std::vector<int64_t>{3});
  CHECK(encoded(whole, "acb") == std::vector<int64_t>{0, 7, 1});
  CHECK(encoded(pairs, std::string(20'000, 'b') + std::string(20'000, 'a')).size() == 39'999);
  CHECK_THROWS_SAYING(BytePairs({{"a", 0}}, {{"a", "a"}}, false, {}), InvalidArgumentError,
                      "'aa' is in a pair but no token");
}

TEST_CASE("what tokenizer.json holds and we do not have is named", "[preprocessing][tokenizers]") {
  check_refused({{"model", {{"type", "WordPiece"}}}}, "the model 'WordPiece'");
  check_refused({{"model", {{"byte_fallback", true}}}}, "'byte_fallback' of the model");
  check_refused({{"normalizer", {{"type", "NFC"}}}}, "normalizer 'NFC'");
  if (!preprocessing_internal::has_patterns()) return;
  check_refused({{"decoder", {{"type", "Metaspace"}}}}, "the decoder 'Metaspace'");
  check_refused({{"pre_tokenizer", {{"type", "Whitespace"}}}}, "the pre-tokenizer 'Whitespace'");
  check_refused({{"post_processor", {{"type", "BertProcessing"}}}}, "'BertProcessing'");
  json file = read_json("gpt2.json");
  file["added_tokens"][0]["lstrip"] = true;
  CHECK_THROWS_SAYING(preprocessing_internal::parse_tokenizer_json(file.dump(), "f"),
                      UnimplementedError, "'lstrip' of the added token '<|end|>'");
  for (const std::string text : {"", "{", "{}", "[1]", R"({"model": {"vocab": 3}})"})
    CHECK_THROWS_SAYING(preprocessing_internal::parse_tokenizer_json(text, "f"), DataLossError,
                        "f is no tokenizer.json");
  const std::string whole = read_json("gpt2.json").dump();
  for (size_t size = 0; size < whole.size(); size += 211)
    CHECK_THROWS_AS(preprocessing_internal::parse_tokenizer_json(whole.substr(0, size), "f"),
                    DataLossError);
}

TEST_CASE("models of SentencePiece give its numbers", "[preprocessing][tokenizers]") {
  if (!has_sentence_piece()) return;
  for (const std::string name : {"unigram", "bpe"})
    check_texts(name,
                SentencePieceTokenizer(place(name + ".model"), {.add_bos = true, .add_eos = true}),
                SentencePieceTokenizer(place(name + ".model")));
  const SentencePieceTokenizer tokenizer(place("unigram.model"));
  CHECK(tokenizer.vocabulary_size() == 50);
  CHECK(tokenizer.token_to_id("</s>") == 2);
  CHECK_FALSE(tokenizer.token_to_id("zebra").has_value());
  CHECK_THROWS_SAYING(tokenizer.decode(std::vector<int64_t>{50}), InvalidArgumentError, "50");
  CHECK_THROWS_SAYING(SentencePieceTokenizer(place("gpt2.json")), DataLossError, "no model of");
}

TEST_CASE("tokenizers take tensors, in maps too", "[preprocessing][tokenizers]") {
  if (!preprocessing_internal::has_patterns()) return;
  const BytePairTokenizer tokenizer(place("gpt2.json"), {.pad_value = -1});
  const Tensor ids = tokenizer(strings_tensor({"the fox", "a", ""}));
  const int64_t longest = int64_t(tokenizer.encode("the fox").size());
  CHECK(ids.shape() == Shape{3, longest});
  CHECK(ids.data<int64_t>().back() == -1);
  CHECK(strings_of(tokenizer.detokenize(ids)) == std::vector<std::string>{"the fox", "a", ""});
  const BytePairTokenizer fixed(place("gpt2.json"), {.sequence_length = 4, .pad_value = 5});
  CHECK(fixed(strings_tensor({"a"}, {})).to_vector()[3] == 5);
  const auto texts = data::Dataset::from_tensor_slices(strings_tensor({"the fox", "over", "a"}));
  int64_t count = 0;
  for (const data::Batch& b : texts.map(
           [&](const data::Batch& b) {
             return data::Batch{fixed(b.x), b.y};
           },
           {.num_parallel_calls = 2})) {
    CHECK(b.x.shape() == Shape{4});
    ++count;
  }
  CHECK(count == 3);
}
