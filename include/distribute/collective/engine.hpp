#pragma once
/// Engines that send the bytes of collectives in place of this library's TCP: MPI and UCX, as
/// modules that are opened at run time.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/transport.hpp>

#include <memory>
#include <string>
#include <vector>

struct distribute_engine_module;

namespace distribute::collective {

class Communicator;

/// A library that an engine module stands for.
enum class EngineKind { OpenMpi, Mpich, Ucx };
inline constexpr EngineKind kEngineKinds[] = {EngineKind::OpenMpi, EngineKind::Mpich,
                                              EngineKind::Ucx};
/// Returns "openmpi", "mpich", "ucx".
const char* name_of(EngineKind kind);

/// A module that this process has opened. It lives until the process ends.
struct Engine {
  EngineKind kind = EngineKind::Ucx;
  const distribute_engine_module* module = nullptr;
  std::string file;

  /// Returns "ucx (UCX 1.13.1, /usr/lib/distribute/libdistribute_ucx.so)".
  std::string text() const;
};

/// Returns the folders that are searched for modules, in order: the folders of
/// DISTRIBUTE_ENGINE_PATH (separated by colons), and no others if it is set; lib/distribute beside
/// the folder of the program; /usr/local/lib/distribute; /usr/lib/distribute; last, as an empty
/// name, the loader's own path.
std::vector<std::string> engine_folders();

/// Opens the module libdistribute_<mpi_openmpi
/// mpi_mpich
/// ucx>.so, once. Returns null when that fails; `problem` then tells which files were searched, and
/// the remedy. Thread-safe.
const Engine* find_engine(EngineKind kind, std::string& problem);

/// Returns the MPI of this process: the one that is loaded already; else the one whose launcher has
/// started it, by the launcher's variables.
/// Throws  FailedPreconditionError when two are loaded, or no launcher of an MPI has started it.
EngineKind mpi_of_process();

/// How a transport over an engine sums.
struct EngineTransportOptions {
  /// Makes all sums in the order of sum_order.hpp, as over TCP. With false large arrays use the
  /// engine's own all-reduce if it has one: the order of the sum, and with it the last bit, is then
  /// the engine's choice.
  bool rank_order = false;
  /// Bytes from which an array is large.
  int64_t own_all_reduce_bytes = 64 << 10;
  /// Number of ranks on this host, this one included, which determines how they wait; 0: all ranks.
  int ranks_on_host = 0;
};

/// Makes this process's rank among those that mpirun started. It initializes MPI unless the program
/// has, and then finalizes it with the process. Every process must make its transports in the same
/// order. mpirun handles a rank that dies, and ends the job unless told otherwise.
/// Throws  as mpi_of_process(); UnavailableError when there is no module for that MPI;
///          FailedPreconditionError when the program has initialized MPI for a single thread.
std::unique_ptr<Transport> make_mpi_transport(const EngineTransportOptions& options = {});

/// Makes this process's rank of a group over UCX. The ranks of `known`, which all call it, exchange
/// their addresses through it.
/// Throws  UnavailableError when there is no module for UCX.
std::unique_ptr<Transport> make_ucx_transport(Communicator& known);

/// Makes the ranks of a group of threads over UCX, for tests and measurements. Throws  as above.
std::vector<std::unique_ptr<Transport>> make_ucx_transports(int ranks);

}  // namespace distribute::collective
