#pragma once
/// Engines that carry the bytes of collectives in place of our own TCP: MPI and UCX, as modules
/// that are opened at run time.

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
/// "openmpi", "mpich", "ucx".
const char* name_of(EngineKind kind);

/// An engine is a module that this process has opened. Lives to its end.
struct Engine {
  EngineKind kind = EngineKind::Ucx;
  const distribute_engine_module* module = nullptr;
  std::string file;

  /// "ucx (UCX 1.13.1, /usr/lib/distribute/libdistribute_ucx.so)".
  std::string text() const;
};

/// Where modules are looked for, in order: the folders of DISTRIBUTE_ENGINE_PATH (separated by
/// colons), and nowhere else where it is set; lib/distribute beside the folder of the program;
/// /usr/local/lib/distribute; /usr/lib/distribute; last, the loader's own path, as an empty name.
std::vector<std::string> engine_folders();

/// Opens the module libdistribute_<mpi_openmpi | mpi_mpich | ucx>.so, once. Null when it cannot be
/// had; `problem` then tells what was looked for, and the cure. Thread-safe.
const Engine* find_engine(EngineKind kind, std::string& problem);

/// The MPI of this process: the one that is loaded already; else the one whose launcher has started
/// it, by the launcher's variables.
/// Throws  FailedPreconditionError when two are loaded, or no launcher of an MPI has started it.
EngineKind mpi_of_process();

/// How a transport over an engine sums.
struct EngineTransportOptions {
  /// All sums in rank order. Else large arrays go through the engine's own all-reduce, where it has
  /// one: the order of the sum, and with it the last bit, is then the engine's choice.
  bool rank_order = false;
  /// Arrays from here on are large.
  int64_t own_all_reduce_bytes = 64 << 10;
  /// With this one; they wait in other ways where each has a core. 0: all are.
  int ranks_on_host = 0;
};

/// This process's rank among those that mpirun started; initializes MPI where the program has not,
/// and then ends it with the process. Every process must make its transports in the same order.
/// A rank that dies is the business of mpirun, which ends the job unless told otherwise.
/// Throws  as mpi_of_process(); UnavailableError when there is no module for that MPI;
///         FailedPreconditionError when the program has initialized MPI for a single thread.
std::unique_ptr<Transport> make_mpi_transport(const EngineTransportOptions& options = {});

/// This process's rank of a group over UCX. The ranks of `known`, which all call it, tell each
/// other their addresses through it. Throws  UnavailableError when there is no module for UCX.
std::unique_ptr<Transport> make_ucx_transport(Communicator& known);

/// The ranks of a group of threads over UCX, for tests and measurements. Throws  as above.
std::vector<std::unique_ptr<Transport>> make_ucx_transports(int ranks);

}  // namespace distribute::collective
