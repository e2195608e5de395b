#pragma once
/// How a strategy's collectives are to be carried out.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>

namespace distribute {

/// Auto takes the fastest that needs nothing: shared memory on one host, NCCL between GPUs, else
/// TCP. Ring is TensorFlow's word for "without NCCL". Mpi and Ucx carry what lies in host memory
/// over an engine that is installed (docs/engines.md), and DISTRIBUTE_TRANSPORT says the same from
/// outside.
/// Source  tf.distribute.experimental.CommunicationImplementation
enum class CommunicationImplementation { Auto, Ring, Nccl, Mpi, Ucx };

/// Options of reductions. Source  tf.distribute.experimental.CommunicationOptions
struct CommunicationOptions {
  /// Gradients travel in packs that are closed once they are larger than this; 0: 1 MiB for the
  /// first, 25 MiB for the others. The result is the same for every size.
  int64_t bytes_per_pack = 0;
  /// Every collective ends after this time; none: after DISTRIBUTE_OPERATION_TIMEOUT, 300 s where
  /// it is not set.
  std::optional<double> timeout_seconds = {};
  CommunicationImplementation implementation = CommunicationImplementation::Auto;
  /// Gradients between hosts travel as bfloat16 and are summed in float32: half the bytes, 8 bits
  /// of mantissa.
  bool bfloat16_gradients = false;

  /// Fields of `other` that are not the default replace these.
  CommunicationOptions merge(const CommunicationOptions& other) const;
  /// Throws  InvalidArgumentError for a negative size or time.
  void check() const;
};

}  // namespace distribute
