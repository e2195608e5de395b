#pragma once
/// Python scripts of the tests that use the real TensorFlow or PyTorch, where there is one.

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>

#include <sys/wait.h>

/// Runs tests/NAME with these arguments, for a shell, by the Python that `variable` names; `log` is
/// a file for what it says. False where that Python lacks a package: the script ends with
/// status 77.
inline bool run_python_script(const char* variable, const std::string& name,
                              const std::string& arguments, const std::string& log) {
  const char* python = std::getenv(variable);
  const std::string command = std::string(python ? python : "python3") + " " +
                              distribute::testing::source_dir() + "/tests/" + name + " " +
                              arguments + " >" + log + " 2>&1";
  const int status = std::system(command.c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) return false;
  INFO(file_text(log));
  REQUIRE(status == 0);
  return true;
}

inline bool run_tensorflow_script(const std::string& name, const std::string& arguments,
                                  const std::string& log) {
  return run_python_script("DISTRIBUTE_TENSORFLOW_PYTHON", name, arguments, log);
}
inline bool run_torch_script(const std::string& name, const std::string& arguments,
                             const std::string& log) {
  return run_python_script("DISTRIBUTE_TORCH_PYTHON", name, arguments, log);
}
