#pragma once
/// Shell scripts as tests: several programs of this build, names and launchers played by files.

#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

/// Runs a shell script, at most ten minutes; its output is both streams.
inline ProgramResult shell(const std::string& script) {
  const TemporaryDirectory directory;
  const std::string path = directory / "script.sh", out = directory / "shell_output";
  std::ofstream(path) << "PATH=" + distribute::testing::binary_dir() +
                             ":$PATH; export OMP_NUM_THREADS=1\ncd "
                      << directory.path() << "\n"
                      << script;
  const int status = std::system(("timeout 600 sh " + path + " >" + out + " 2>&1").c_str());
  std::ifstream file(out, std::ios::binary);
  return {WEXITSTATUS(status), std::string(std::istreambuf_iterator<char>(file), {}), ""};
}

/// Whether this user may give processes names and process numbers of their own.
inline bool has_namespaces(const std::string& kind) {
  return std::system(("unshare " + kind + " true >/dev/null 2>&1").c_str()) == 0;
}

/// Shell: wait_for FILE TEXT.
inline const std::string kWaitFor =
    "wait_for() { for i in $(seq 400); do grep -q \"$2\" \"$1\" && return 0; sleep 0.05; done; "
    "echo \"no '$2' in $1\"; cat \"$1\"; exit 9; }\n";
