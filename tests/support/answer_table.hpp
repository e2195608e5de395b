#pragma once
/// Tables of what TensorFlow answered: words, " = ", and the answer, one case a line.

#include <tests/support/source_dir.hpp>
#include "support/catch.hpp"

namespace distribute_test {

struct Answer {
  std::string line;                 // the whole, for messages
  std::vector<std::string> words;   // of the question
  std::vector<std::string> answer;  // words; "error" alone where TensorFlow threw
  bool is_error() const { return answer.size() == 1 && answer[0] == "error"; }
};

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The cases of a file below tests/data; there are at least `expected`.
inline std::vector<Answer> read_answers(const std::string& name, size_t expected) {
  std::ifstream file(distribute::testing::source_dir() + "/tests/data/" + name);
  std::vector<Answer> answers;
  for (std::string line; std::getline(file, line);) {
    const size_t sign = line.find(" = ");
    answers.push_back({line, words_of(line.substr(0, sign)), words_of(line.substr(sign + 3))});
  }
  REQUIRE(answers.size() >= expected);
  return answers;
}

}  // namespace distribute_test
