#pragma once
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/tokenizer_json.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

#include <nlohmann/json.hpp>

namespace distribute::preprocessing::preprocessing_internal {

using nlohmann::json;

[[noreturn]] DISTRIBUTE_INLINE void refuse_tokenizer(const std::string& what) {
  throw UnimplementedError("tokenizer.json: " + what +
                           " is not supported; byte-level byte-pair tokenizers as those of GPT-2 "
                           "and Llama 3 are");
}

DISTRIBUTE_INLINE std::string type_of(const json& part) { return part.at("type"); }

/// Refuses an option that is set.
DISTRIBUTE_INLINE void refuse_set(const json& part, std::initializer_list<const char*> names,
                                  const std::string& where) {
  for (const char* name : names) {
    const json value = part.value(name, json());
    if (!value.is_null() && value != json("") && value != json(false))
      refuse_tokenizer(str_cat("'", name, "' of ", where));
  }
}

/// Gives the letters that represent bytes: printable bytes represent themselves, others are letters
/// from U+0100 on.
/// Source  bytes_to_unicode of GPT-2 (Radford et al., 2019)
DISTRIBUTE_INLINE std::map<std::string, char> letters_of_bytes() {
  std::map<std::string, char> letters;
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool shown = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    const uint32_t point = shown ? byte : next++;
    const std::string letter =
        point < 0x80 ? std::string(1, char(point))
                     : std::string{char(0xC0 | point >> 6), char(0x80 | (point & 63))};
    letters[letter] = char(byte);
  }
  return letters;
}

/// Turns a token of such letters into bytes; a token with other letters is taken unchanged.
DISTRIBUTE_INLINE std::string bytes_of_letters(const std::string& token) {
  static const std::map<std::string, char> letters = letters_of_bytes();
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const size_t size = uint8_t(token[at]) < 0x80 ? 1 : 2;
    const auto found = letters.find(token.substr(at, size));
    if (found == letters.end()) return token;
    bytes.push_back(found->second);
    at += size;
  }
  return bytes;
}

DISTRIBUTE_INLINE BytePairs read_pairs(const json& model) {
  if (const std::string type = model.value("type", "BPE"); type != "BPE")
    refuse_tokenizer("the model '" + type + "'");
  refuse_set(
      model,
      {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"},
      "the model");
  BytePairs::Vocabulary vocabulary;
  for (const auto& [token, id] : model.at("vocab").items())
    vocabulary.emplace(bytes_of_letters(token), id.get<int64_t>());
  std::vector<std::pair<std::string, std::string>> merges;
  for (const json& merge : model.at("merges")) {
    std::array<std::string, 2> pair;
    if (merge.is_string()) {
      const std::string text = merge;
      const size_t space = text.find(' ');
      if (space == std::string::npos) throw InvalidArgumentError("a pair without a space: " + text);
      pair = {text.substr(0, space), text.substr(space + 1)};
    } else {
      pair = merge.get<std::array<std::string, 2>>();
    }
    merges.emplace_back(bytes_of_letters(pair[0]), bytes_of_letters(pair[1]));
  }
  std::optional<int64_t> unknown;
  if (const json token = model.value("unk_token", json()); !token.is_null())
    unknown = model.at("vocab").at(token.get<std::string>()).get<int64_t>();
  return BytePairs(std::move(vocabulary), merges, model.value("ignore_merges", false), unknown);
}

/// The words of GPT-2: short forms, and letters, digits or other signs after at most one space.
inline constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

DISTRIBUTE_INLINE void read_steps(const json& part, std::vector<CutStep>& steps) {
  const std::string type = type_of(part);
  if (type == "Sequence") {
    for (const json& inner : part.at("pretokenizers")) {
      if (type_of(inner) == type) refuse_tokenizer("a sequence in a sequence");
      read_steps(inner, steps);
    }
  } else if (type == "ByteLevel") {
    CutStep step{.add_prefix_space = part.value("add_prefix_space", true)};
    if (part.value("use_regex", true)) step.pattern.emplace(kByteLevelPattern);
    steps.push_back(std::move(step));
  } else if (type == "Digits") {
    steps.push_back(
        {.pattern = Pattern(part.value("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)")});
  } else if (type == "Split" && part.at("pattern").contains("Regex")) {
    if (part.at("behavior") != "Isolated" || part.value("invert", false))
      refuse_tokenizer("a Split that is not Isolated");
    steps.push_back({.pattern = Pattern(part.at("pattern").at("Regex").get<std::string>())});
  } else {
    refuse_tokenizer("the pre-tokenizer '" + type + "'");
  }
}

DISTRIBUTE_INLINE void read_post_processor(const json& part, TokenizerParts& parts) {
  if (part.is_null()) return;
  const std::string type = type_of(part);
  if (type == "ByteLevel") return;  // it only concerns offsets
  if (type == "Sequence") {
    for (const json& inner : part.at("processors")) {
      if (type_of(inner) == type) refuse_tokenizer("a sequence in a sequence");
      read_post_processor(inner, parts);
    }
    return;
  }
  if (type != "TemplateProcessing") refuse_tokenizer("the post-processor '" + type + "'");
  std::vector<int64_t>* side = &parts.prefix;
  for (const json& piece : part.at("single")) {
    if (piece.contains("Sequence")) {
      side = &parts.suffix;
      continue;
    }
    const std::string token = piece.at("SpecialToken").at("id");
    for (const json& id : part.at("special_tokens").at(token).at("ids")) side->push_back(id);
  }
}

DISTRIBUTE_INLINE void read_added_tokens(const json& list, TokenizerParts& parts) {
  for (const json& token : list) {
    const std::string content = token.at("content");
    refuse_set(token, {"single_word", "lstrip", "rstrip"}, "the added token '" + content + "'");
    if (content.empty()) continue;
    parts.added.push_back({content, token.at("id").get<int64_t>(), token.value("special", false)});
    parts.tokens[parts.added.back().id] = content;
  }
  std::stable_sort(parts.added.begin(), parts.added.end(), [](const auto& a, const auto& b) {
    return a.content.size() > b.content.size();
  });
}

DISTRIBUTE_INLINE TokenizerParts read_parts(const json& file) {
  for (const char* name : {"normalizer", "truncation", "padding"})
    if (const json part = file.value(name, json()); !part.is_null())
      refuse_tokenizer(str_cat(name, " '", part.value("type", ""), "'"));
  if (const json decoder = file.value("decoder", json());
      !decoder.is_null() && type_of(decoder) != "ByteLevel")
    refuse_tokenizer("the decoder '" + type_of(decoder) + "'");
  TokenizerParts parts{{}, {}, {}, {}, read_pairs(file.at("model")), {}};
  const json pre_tokenizer = file.value("pre_tokenizer", json());
  if (pre_tokenizer.is_null()) refuse_tokenizer("a model without a pre-tokenizer");
  read_steps(pre_tokenizer, parts.steps);
  for (const auto& [token, id] : parts.pairs.vocabulary()) parts.tokens.emplace(id, token);
  read_post_processor(file.value("post_processor", json()), parts);
  read_added_tokens(file.value("added_tokens", json::array()), parts);
  return parts;
}

DISTRIBUTE_INLINE TokenizerParts parse_tokenizer_json(std::string_view text,
                                                      const std::string& name) {
  try {
    return read_parts(json::parse(text));
  } catch (const json::exception& error) {
    throw DataLossError(str_cat(name, " is no tokenizer.json: ", error.what()));
  } catch (const InvalidArgumentError& error) {
    throw DataLossError(str_cat(name, " is no tokenizer.json: ", error.what()));
  }
}

}  // namespace distribute::preprocessing::preprocessing_internal
