#pragma once
/// Collectives over MPI, for sites that prescribe it; builds without MPI have no such transport.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/transport.hpp>

#include <memory>

namespace distribute::collective {

/// Whether this build has MPI (DISTRIBUTE_WITH_MPI=ON).
bool has_mpi();

/// This process's rank among those that mpirun started; initializes MPI where the program has not,
/// and then ends it with the process. Every process must make its transports in the same order.
/// MPI carries messages and nothing else: algorithms, sums in rank order, signatures and deadlines
/// are those of TCP. A rank that dies is the business of mpirun, which ends the job.
/// Throws  UnimplementedError in a build without MPI; FailedPreconditionError when the program has
///         initialized MPI for a single thread.
std::unique_ptr<Transport> make_mpi_transport();

}  // namespace distribute::collective
