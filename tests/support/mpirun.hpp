#pragma once
/// Hidden tests of this program as ranks that mpirun starts.

#include <distribute/base/error.hpp>

#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

/// What the ranks printed, and how many of them passed.
struct MpiRun {
  int passed = 0;
  std::string output;
};

/// Runs this program again on three ranks, with the hidden test `tag`; `environment`: "A=1 B=2".
/// mpirun's own status is no measure: it complains about ranks that leave a broken group.
inline MpiRun run_with_mpi(const std::string& tag, const std::string& environment = "") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const TemporaryDirectory directory;
  const std::string out = directory / "out";
  const std::string command = distribute::str_cat(
      "env ", environment, " timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none ",
      "-np 3 '", self, "' '", tag, "' >'", out, "' 2>&1 </dev/null");
  MpiRun run;
  if (std::system(command.c_str()) < 0) return run;
  std::ifstream file(out);
  for (std::string line; std::getline(file, line); run.output += line + '\n')
    run.passed += line.find("All tests passed") != std::string::npos;
  return run;
}

/// Naming a file selects its hidden tests too, outside of mpirun.
inline bool is_mpi_rank() { return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr; }

inline bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }
