#pragma once
/// Limits of a job of hvd operations. The environment can set each of them by Horovod's name.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/horovod/detail/negotiation.hpp>

namespace distribute::horovod_internal {

struct EngineOptions {
  double cycle_time_ms = 1;  // how long announcements wait for others: HOROVOD_CYCLE_TIME
  /// HOROVOD_FUSION_THRESHOLD in bytes; HOROVOD_STALL_CHECK_TIME_SECONDS,
  /// HOROVOD_STALL_CHECK_DISABLE=1, HOROVOD_STALL_SHUTDOWN_TIME_SECONDS (0: never).
  NegotiationOptions negotiation = {};
  CommunicationOptions communication = {};

  /// Reads the options.
  /// Throws  InvalidArgumentError that names the variable, its value and what is allowed.
  static EngineOptions from_environment();
};

}  // namespace distribute::horovod_internal
