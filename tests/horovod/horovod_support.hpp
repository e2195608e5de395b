#pragma once
/// Jobs of hvd ranks as threads of one test.

#include <distribute/base/parallel.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>

#include <tests/cluster/cluster_support.hpp>

/// Limits for tests; nothing waits for minutes.
inline distribute::horovod_internal::EngineOptions quick_engine() {
  distribute::horovod_internal::EngineOptions options;
  options.negotiation.stall_limit = 30;
  options.communication.timeout_seconds = 30;
  return options;
}

/// Calls body(rank) on a thread for each rank, where hvd functions work; error_of() each.
inline std::vector<std::string> run_hvd(
    int ranks, const std::function<void(int)>& body,
    const distribute::horovod_internal::EngineOptions& options = quick_engine(),
    const ClusterOptions& cluster = quick_options()) {
  using namespace distribute::horovod_internal;
  TestJob job(ranks);
  return on_ranks(ranks, [&](int rank) {
    distribute::set_intra_op_threads(1);
    const auto runtime = ranks > 1 ? job.join(rank, cluster) : nullptr;
    const EngineScope scope(std::make_shared<Engine>(runtime, options));
    body(rank);
    distribute::hvd::shutdown();
  });
}

inline void run_clean_hvd(
    int ranks, const std::function<void(int)>& body,
    const distribute::horovod_internal::EngineOptions& options = quick_engine()) {
  for (const std::string& error : run_hvd(ranks, body, options)) CHECK(error == "");
}

/// For the threads of ranks, where a test framework's checks may not be used.
inline void require(bool right, const std::string& what) {
  if (!right) throw distribute::InternalError("wrong: " + what);
}
inline void require_values(const distribute::Tensor& tensor, const std::vector<float>& values,
                           const std::string& what) {
  require(tensor.to_vector() == values, what + ": " + to_string(tensor));
}
