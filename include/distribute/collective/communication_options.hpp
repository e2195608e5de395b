#pragma once
/// How a strategy carries out collectives.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>

namespace distribute {

/// What carries the bytes. Auto takes the fastest that needs no installation: shared memory on one
/// host, NCCL between GPUs, else TCP. Ring is TensorFlow's name for "without NCCL". Mpi and Ucx
/// send arrays in host memory over an engine that is installed (docs/engines.md);
/// DISTRIBUTE_TRANSPORT sets the same from outside.
/// Source  tf.distribute.experimental.CommunicationImplementation
enum class CommunicationImplementation { Auto, Ring, Nccl, Mpi, Ucx };

/// Holds the options of reductions. Source  tf.distribute.experimental.CommunicationOptions
struct CommunicationOptions {
  /// Size in bytes after which a pack of gradients is closed and sent; 0: 1 MiB for the first, 25
  /// MiB for the others. The result is the same for every size.
  int64_t bytes_per_pack = 0;
  /// Time limit of every collective; unset: DISTRIBUTE_OPERATION_TIMEOUT, by default 300 s.
  std::optional<double> timeout_seconds = {};
  CommunicationImplementation implementation = CommunicationImplementation::Auto;
  /// Sends gradients between hosts as bfloat16 and sums them in float32: half the bytes, 8 bits of
  /// mantissa.
  bool bfloat16_gradients = false;

  /// Returns these options with the fields of `other` that are not the default.
  CommunicationOptions merge(const CommunicationOptions& other) const;
  /// Throws  InvalidArgumentError for a negative size or time.
  void check() const;
};

}  // namespace distribute
