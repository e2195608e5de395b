#pragma once
#if !DISTRIBUTE_HAS_MPI
#include <distribute/collective/mpi_transport.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE bool has_mpi() { return false; }

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_mpi_transport() {
  throw UnimplementedError(
      "this build has no MPI: install libopenmpi-dev and configure with -DDISTRIBUTE_WITH_MPI=ON");
}

}  // namespace distribute::collective
#endif
