#pragma once
/// Runs one of the project's programs and catches what it prints.

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <sys/wait.h>

struct ProgramResult {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out, err;
};

/// Whether the program was built.
inline bool has_program(const std::string& name) {
  return std::filesystem::exists(distribute::testing::binary_dir() + "/" + name);
}

/// Ends a test of a program that was not built.
inline void skip_without_program(const std::string& name) {
  if (!has_program(name)) SKIP("the program " + name + " was not built");
}
#define SKIP_WITHOUT_PROGRAM(name) skip_without_program(name)

inline std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Runs a line of the shell without input.
inline ProgramResult run_line(const std::string& line) {
  const TemporaryDirectory directory;
  const std::string out = directory / "out", err = directory / "err";
  const int status = std::system((line + " >" + out + " 2>" + err + " </dev/null").c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, file_text(out), file_text(err)};
}

/// `name` is a program of build/.../bin; `environment` such as "OMP_NUM_THREADS=1". Ends a test of
/// a program that was not built.
inline ProgramResult run_program(const std::string& name, const std::vector<std::string>& arguments,
                                 const std::string& environment = "") {
  skip_without_program(name);
  std::string command =
      environment + " " + shell_quoted(distribute::testing::binary_dir() + "/" + name);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  return run_line(command);
}
