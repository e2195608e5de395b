#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <algorithm>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

namespace {

/// Words as main() gets them.
struct CommandWords {
  explicit CommandWords(std::vector<std::string> all) : words(std::move(all)) {
    words.insert(words.begin(), "program");
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
  }
  int count() const { return int(words.size()); }
  std::vector<std::string> words;
  std::vector<char*> pointers;
};

}  // namespace

TEST_CASE("errors of peers and services are worth another start, others are not",
          "[base][exit_status]") {
  CHECK(exit_status(UnavailableError("a peer is lost")) == kExitRetry);
  CHECK(exit_status(AbortedError("a peer ended")) == kExitRetry);
  CHECK(exit_status(DeadlineExceededError("no task came")) == kExitRetry);
  CHECK(exit_status(InvalidArgumentError("a wrong shape")) == kExitFailed);
  CHECK(exit_status(DataLossError("a damaged file")) == kExitFailed);
  CHECK(exit_status(FailedPreconditionError("NaN")) == kExitFailed);
  CHECK(exit_status(UnauthenticatedError("a wrong token")) == kExitFailed);
  CHECK(exit_status(std::runtime_error("not ours")) == kExitFailed);
}

TEST_CASE("a wrong environment has the status of wrong usage", "[base][exit_status]") {
  const Environment variables(std::map<std::string, std::string>{{"X", "abc"}});
  CHECK(run_main([&] { variables.integer("X"); }) == kExitUsage);
  CHECK(run_main([&] { variables.flag("X", true); }) == kExitUsage);
  CHECK(run_main([] { throw UsageError("--steps must be at least 1"); }) == kExitUsage);
}

namespace {

/// What `print` writes to std::cerr in the time of the parsing.
std::string told_while_parsing(const std::function<void()>& print) {
  std::ostringstream out;
  std::streambuf* const before = std::cerr.rdbuf(out.rdbuf());
  char name[] = "program";
  char* words[] = {name, nullptr};
  CHECK(run_main(
            1, words, [&](int, char**) { print(); }, [] {}) == kExitDone);
  CHECK(std::cerr.rdbuf() == out.rdbuf());
  std::cerr.rdbuf(before);
  return out.str();
}

}  // namespace

TEST_CASE("a parser's errors do not repeat long words of the command line", "[base][exit_status]") {
  const std::string most(500, 'x'), longer(20'000, 'x');
  CHECK(with_short_words("--steps=" + longer + " is\n" + most) ==
        "--steps=" + std::string(72, 'x') + "... (20008 bytes) is\n" + most);
  CHECK(with_short_words("") == "");
  CHECK(with_short_words("a  b\n") == "a  b\n");
  const std::string told = told_while_parsing(
      [&] { std::cerr << "ERROR: '" << longer << "' is no number" << '!' << std::endl; });
  CHECK(told == "ERROR: '" + std::string(80, 'x') + "... (20000 bytes)' is no number!\n");
}

namespace {

/// The status with which `parse` ends a process of the given word.
int status_of_parser(const std::string& word, const std::function<void()>& parse) {
  const pid_t child = ::fork();
  if (child == 0) {
    CommandWords line({word});
    run_main(
        line.count(), line.pointers.data(), [&](int, char**) { parse(); }, [] {});
    std::_Exit(100);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a parser that ends the process gives it the status of usage, or of --help",
          "[base][exit_status]") {
  const auto fails = [] {
    std::cerr << "ERROR: unknown flag\n";
    std::exit(1);
  };
  CHECK(status_of_parser("--steps=x", fails) == kExitUsage);
  CHECK(status_of_parser("--help", fails) == kExitUsage);
  CHECK(status_of_parser("--helpfull", [] { std::exit(1); }) == kExitDone);
  CHECK(status_of_parser("--steps=1", [] { std::exit(3); }) == 3);
}

TEST_CASE("words that a parser leaves are refused", "[base][exit_status]") {
  CommandWords line({"epochs=3"});
  int ran = 0;
  const auto status = [&](size_t left) {
    return run_main(
        line.count(), line.pointers.data(),
        [&](int, char** words) { return std::vector<char*>(words, words + left); }, [&] { ++ran; });
  };
  CHECK(status(2) == kExitUsage);
  CHECK(ran == 0);
  CHECK(status(1) == kExitDone);
  check_throws<InvalidArgumentError>(
      [&] {
        check_words_left({line.pointers.data(), 2});
      },
      "unexpected word 'epochs=3'");
}

TEST_CASE("an error that nothing catches is one line without a C++ name", "[base][exit_status]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);  // not Catch's
    ::dup2(ends[1], STDERR_FILENO);
    try {
      throw NotFoundError("no such file");
    } catch (...) {
      std::terminate();  // as behind the end of main
    }
  }
  ::close(ends[1]);
  std::string text(200, '\0');
  text.resize(size_t(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(text == "error: no such file\n");
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

TEST_CASE("operators take statuses from 128 for retryable and below for permanent",
          "[base][exit_status]") {
  CHECK(kExitRetry >= 128);
  CHECK(kExitPreempted == 128 + 15);
  for (int permanent : {kExitFailed, kExitUsage}) CHECK((permanent > 0 && permanent < 128));
}

TEST_CASE("run_main gives what the body gives, and the status of its exception",
          "[base][exit_status]") {
  CHECK(run_main([] {}) == kExitDone);
  CHECK(run_main([] { return 3; }) == 3);
  CHECK(run_main([] { throw UnavailableError("a peer is lost"); }) == kExitRetry);
  CHECK(run_main([]() -> int { throw std::runtime_error("not ours"); }) == kExitFailed);
}

TEST_CASE("a file of flags that names itself is refused before a parser reads it",
          "[base][exit_status]") {
  const TemporaryDirectory directory;
  const std::string one = directory / "one", other = directory / "other", good = directory / "good";
  std::ofstream(one) << "--steps=3\n  --flagfile=" << other << "\n";
  std::ofstream(other) << "# the first again\n-flagfile=" << good << "," << one << "\n";
  std::ofstream(good) << "--epochs=1\nflagfile=" << one << "\n";  // no flag, as it has no dash
  int parsed = 0, ran = 0;
  const auto status = [&](std::vector<std::string> words) {
    CommandWords line(std::move(words));
    return run_main(
        line.count(), line.pointers.data(), [&](int count, char**) { parsed = count; },
        [&] { ++ran; });
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--flagfile=" + one},
                                                {"--a", "--flagfile", good + "," + one},
                                                {"-flagfile=" + other}}) {
    CommandWords line(words);
    check_throws<InvalidArgumentError>(
        [&] { check_flag_files(line.count(), line.pointers.data()); }, ": it names itself");
    CHECK(status(words) == kExitUsage);
  }
  CHECK(status({"--flagfile=" + (directory / "none")}) == kExitUsage);
  CHECK(status({"--flagfile=/dev/zero"}) == kExitUsage);
  CHECK(parsed == 0);
  CHECK(ran == 0);
  CHECK(status({"--flagfile=" + good, "--", "--flagfile=" + one}) == kExitDone);
  CHECK(status({"--flagfiles=" + one, "flagfile=" + one}) == kExitDone);
  CHECK(parsed == 3);
  CHECK(ran == 2);
}
