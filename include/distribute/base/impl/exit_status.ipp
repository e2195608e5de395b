#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/process_state.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::base_internal {

/// Returns the files that a word of a command line names, if it is --flagfile; `next` is the word
/// behind it.
DISTRIBUTE_INLINE std::vector<std::string> flag_files_of(std::string_view word,
                                                         std::string_view next) {
  const std::string_view flag = word.substr(word.starts_with("--") ? 2 : word.starts_with('-'));
  if (flag.size() == word.size() || !flag.starts_with("flagfile")) return {};
  if (flag == "flagfile") return untrusted::split_commas(next);
  return flag[8] == '=' ? untrusted::split_commas(flag.substr(9)) : std::vector<std::string>();
}

/// Cuts the long words of each text that a stream writes at once.
class ShortWords : public std::streambuf {
 public:
  explicit ShortWords(std::streambuf* to) : to_(to) {}
  std::streambuf* target() const { return to_; }
  bool wrote() const { return wrote_; }

 protected:
  int_type overflow(int_type letter) override { return to_->sputc(char(letter)); }
  int sync() override { return to_->pubsync(); }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    wrote_ = true;
    const std::string shorter = with_short_words({text, size_t(size)});
    to_->sputn(shorter.data(), std::streamsize(shorter.size()));
    return size;
  }

 private:
  std::streambuf* const to_;
  bool wrote_ = false;
};

struct Parsing {  // of the process
  ShortWords* errors = nullptr;
  bool help = false;
};

DISTRIBUTE_INLINE void end_while_parsing() {
  const Parsing& parsing = in_process<Parsing>();
  if (!parsing.errors || !(parsing.errors->wrote() || parsing.help)) return;
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(parsing.errors->wrote() ? kExitUsage : kExitDone);
}

/// The stream keeps the buffer where parsing ends the process, so it is never deleted.
DISTRIBUTE_INLINE WhileParsing::WhileParsing(int argc, char** argv) {
  Parsing& parsing = in_process<Parsing>();
  parsing.errors = new ShortWords(std::cerr.rdbuf());
  parsing.help = std::any_of(argv, argv + argc, [](const std::string_view word) {
    return word.starts_with("--help") || word.starts_with("-help");
  });
  std::cerr.rdbuf(parsing.errors);
  std::atexit(end_while_parsing);
}

DISTRIBUTE_INLINE WhileParsing::~WhileParsing() {
  ShortWords* const words = std::exchange(in_process<Parsing>().errors, nullptr);
  std::cerr.rdbuf(words->target());
  delete words;
}

}  // namespace distribute::base_internal

namespace distribute {

DISTRIBUTE_INLINE int exit_status(const std::exception& error) {
  if (dynamic_cast<const base_internal::WrongUsage*>(&error)) return kExitUsage;
  if (dynamic_cast<const UsageError*>(&error)) return kExitUsage;
  const auto* known = dynamic_cast<const Error*>(&error);
  if (!known) return kExitFailed;
  switch (known->code()) {
    case StatusCode::Unavailable:
    case StatusCode::Aborted:
    case StatusCode::DeadlineExceeded: return kExitRetry;
    default: return kExitFailed;
  }
}

DISTRIBUTE_INLINE int report_failure(const std::exception& error) {
  std::fflush(stdout);  // what it says about the way to the error comes first
  const std::string text = error_text(error);
  std::fprintf(stderr, "error: %s\n", text.c_str());
  if (const auto& listener = in_process<base_internal::FailureListener>().call) listener(text);
  return exit_status(error);
}

DISTRIBUTE_INLINE int check_stdout(int status) {
  errno = 0;
  const bool earlier = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !earlier) return status;
  const char* const why = errno ? std::strerror(errno) : "some of it was lost earlier";
  std::fprintf(stderr, "error: cannot write to standard output: %s\n", why);
  return status == kExitDone ? kExitFailed : status;
}

DISTRIBUTE_INLINE std::string with_short_words(std::string_view message) {
  constexpr size_t kMost = 500;
  std::string text;
  for (size_t begin = 0, end; begin <= message.size(); begin = end + 1) {
    end = std::min(message.find_first_of(" \n", begin), message.size());
    const std::string_view word = message.substr(begin, end - begin);
    text += word.size() > kMost ? str_cat(word.substr(0, 80), "... (", word.size(), " bytes)")
                                : std::string(word);
    text += message.substr(end, 1);
  }
  return text;
}

DISTRIBUTE_INLINE void check_words_left(std::span<char* const> words) {
  if (words.size() < 2) return;
  throw InvalidArgumentError(
      str_cat("unexpected word '", with_short_words(untrusted::printable(words[1], 20'000)),
              "': the program takes flags alone, --name=value; --help lists them"));
}

DISTRIBUTE_INLINE void check_flag_files(int argc, char** argv) {
  constexpr size_t kMostFiles = 100;
  std::vector<std::string> files;
  const auto add = [&](std::string_view word, std::string_view next) {
    for (std::string& file : base_internal::flag_files_of(word, next)) files.push_back(file);
  };
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    add(argv[i], i + 1 < argc ? argv[i + 1] : "");
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name = files[i], text = untrusted::read_text_file(name);
    for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      add(untrusted::trimmed(std::string_view(text).substr(begin, end - begin)), "");
    }
    if (files.size() > kMostFiles)
      throw InvalidArgumentError(
          str_cat("--flagfile=", untrusted::printable(name, 200), ": it names itself"));
  }
}

}  // namespace distribute
