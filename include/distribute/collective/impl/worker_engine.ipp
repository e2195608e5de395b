#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/fabric.hpp>
#include <distribute/collective/detail/spin_time.hpp>
#include <distribute/collective/detail/worker_engine.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace distribute::collective {

namespace engine_internal {

DISTRIBUTE_INLINE std::optional<EngineKind> kind_of(WantedTransport wanted) {
  switch (wanted) {
    case WantedTransport::Auto:
    case WantedTransport::Tcp: return {};
    case WantedTransport::Mpi: return mpi_of_process();
    case WantedTransport::OpenMpi: return EngineKind::OpenMpi;
    case WantedTransport::Mpich: return EngineKind::Mpich;
    case WantedTransport::Ucx: break;
  }
  return EngineKind::Ucx;
}

DISTRIBUTE_INLINE EngineVerdict verdict(WantedTransport wanted, const Engine*& engine) {
  try {
    const EngineKind kind = *kind_of(wanted);
    // A loaded MPI of another kind would be found by it.
    if (kind != EngineKind::Ucx && mpi_of_process() != kind)
      return {.text =
                  str_cat(name_of(kind), " is asked for, but ", name_of(mpi_of_process()),
                          " has started or loaded this process; start the job with the mpirun of ",
                          name_of(kind), ", or set DISTRIBUTE_TRANSPORT=mpi")};
    std::string problem;
    engine = find_engine(kind, problem);
    const bool rank_order = config::experimental::is_op_determinism_enabled();
    if (!engine) return {.text = problem};
    return {true, str_cat(name_of(kind), rank_order ? " with op determinism" : "")};
  } catch (const Error& error) {
    return {.text = error.what()};
  }
}

/// Exchanges the tasks' verdicts and checks them.
DISTRIBUTE_INLINE void check_verdicts(ClusterRuntime& runtime, const std::string& name,
                                      const EngineVerdict& mine) {
  std::vector<EngineVerdict> verdicts;
  for (const std::string& bytes : runtime.all_gather(name, net::encode_message(mine)))
    verdicts.push_back(value_or_throw(net::parse_message<EngineVerdict>(bytes, "verdict")));
  for (size_t r = 0; r < verdicts.size(); ++r)
    if (!verdicts[r].usable)
      throw FailedPreconditionError(str_cat(runtime.describe(int(r)), ": ", verdicts[r].text));
  for (size_t r = 1; r < verdicts.size(); ++r)
    if (verdicts[r] != verdicts[0])
      throw FailedPreconditionError(
          str_cat("the tasks disagree about the engine: ", verdicts[0].text, " in ",
                  runtime.describe(0), ", ", verdicts[r].text, " in ", runtime.describe(int(r)),
                  "; start all of them with the same mpirun, or set "
                  "DISTRIBUTE_TRANSPORT alike"));
}

/// Returns 32 bytes that only tasks of this job can make; empty if the job has no token.
DISTRIBUTE_INLINE std::string proof(const ClusterRuntime& runtime, std::string_view purpose,
                                    const std::string& text) {
  const std::string& token = runtime.options().job_token;
  if (token.empty() || !net::has_hmac()) return {};
  return value_or_throw(
      net::hmac_sha256(token, str_cat("distribute engine ", purpose, "\n", text)));
}

/// Returns the proof for messages from one rank to another, in groups of this name.
DISTRIBUTE_INLINE std::string pair_proof(const ClusterRuntime& runtime, const std::string& group,
                                         int from, int to) {
  const std::string whole = proof(runtime, "messages", str_cat(group, "\n", from, "\n", to));
  return whole.substr(0, std::min<size_t>(whole.size(), 16));
}

/// Exchanges and checks the tasks' addresses; `mine` has one for each replica.
DISTRIBUTE_INLINE std::vector<std::string> exchange_addresses(
    ClusterRuntime& runtime, const std::string& name, const std::vector<std::string>& mine) {
  const auto proof_of = [&](size_t rank, const std::string& address) {
    return proof(runtime, "address", str_cat(name, "\n", rank, "\n", address));
  };
  std::vector<EngineAddress> list;
  for (size_t i = 0; i < mine.size(); ++i)
    list.push_back({mine[i], proof_of(size_t(runtime.rank()) * mine.size() + i, mine[i])});
  std::vector<std::string> result;
  const auto all = runtime.all_gather("engine addresses of " + name, net::encode_message(list));
  for (size_t r = 0; r < all.size(); ++r) {
    const auto theirs = net::parse_message<std::vector<EngineAddress>>(all[r], "addresses");
    bool proved = theirs.ok() && theirs->size() == mine.size();
    for (size_t i = 0; proved && i < mine.size(); ++i) {
      const auto& [address, given] = (*theirs)[i];
      proved = net::equal_in_constant_time(given, proof_of(r * mine.size() + i, address));
      result.push_back(address);
    }
    if (!proved)
      throw UnauthenticatedError(str_cat("the address of ", runtime.describe(int(r)),
                                         " does not prove that it comes from a task of this job"));
  }
  return result;
}

/// An engine is never taken unasked; the log says once that one would reach a faster network.
DISTRIBUTE_INLINE void name_unused_fabric() {
  const std::vector<FabricPort> ports = fabric_ports();
  if (const auto advice = fabric_advice(ports, installed_engines()))
    log_info("collective",
             str_cat("the collectives of host memory go over TCP, not over ", ports.front().text(),
                     "; ", *advice),
             {{"fabric", ports.front().device}});
}

}  // namespace engine_internal

DISTRIBUTE_INLINE const Engine* agree_on_engine(ClusterRuntime& runtime, WantedTransport wanted) {
  const std::vector<int>& hosts = runtime.hosts();
  const bool several =
      std::any_of(hosts.begin(), hosts.end(), [&](int h) { return h != hosts[0]; });
  if (wanted == WantedTransport::Auto && several && runtime.rank() == 0)
    engine_internal::name_unused_fabric();
  if (wanted == WantedTransport::Auto || wanted == WantedTransport::Tcp) return nullptr;
  if (several && runtime.options().tls)
    throw FailedPreconditionError(
        str_cat("DISTRIBUTE_TLS=1 does not reach what ", name_of(wanted),
                " sends between hosts; leave out one of DISTRIBUTE_TLS and DISTRIBUTE_TRANSPORT"));
  const Engine* engine = nullptr;
  const EngineVerdict mine = engine_internal::verdict(wanted, engine);
  engine_internal::check_verdicts(runtime, "the engine", mine);
  if (runtime.rank() == 0)
    log_info("collective",
             str_cat("the collectives of ", runtime.size(), " workers go over ", engine->text()),
             {{"engine", name_of(engine->kind)}, {"module", engine->file}});
  return engine;
}

namespace engine_internal {

/// Opens a group for each replica of this task. If one task cannot, all throw its error.
DISTRIBUTE_INLINE std::vector<std::unique_ptr<EngineGroup>> open_groups(ClusterRuntime& runtime,
                                                                        const Engine& engine,
                                                                        const std::string& name,
                                                                        int per_worker) {
  std::vector<std::unique_ptr<EngineGroup>> groups;
  EngineVerdict verdict{.usable = true};
  try {
    for (int i = 0; i < per_worker; ++i) groups.push_back(std::make_unique<EngineGroup>(engine));
  } catch (const Error& error) {
    verdict = {.text = error.what()};
  }
  check_verdicts(runtime, "the engine of " + name, verdict);
  return groups;
}

}  // namespace engine_internal

DISTRIBUTE_INLINE std::vector<std::unique_ptr<EngineMessages>> connect_engine(
    ClusterRuntime& runtime, const Engine& engine, const std::string& name, int per_worker) {
  const std::vector<int>& hosts = runtime.hosts();
  const int here = int(std::count(hosts.begin(), hosts.end(), hosts[size_t(runtime.rank())]));
  const double spin_seconds = useful_spin(here * per_worker);
  auto groups = engine_internal::open_groups(runtime, engine, name, per_worker);
  std::vector<std::string> mine, names;
  for (const auto& group : groups) mine.push_back(group->address());
  const auto addresses = engine_internal::exchange_addresses(runtime, name, mine);
  const int size = int(addresses.size());
  for (int r = 0; r < size; ++r)
    names.push_back(str_cat("rank ", r, " (", runtime.describe(r / per_worker), ")"));
  std::vector<std::unique_ptr<EngineMessages>> result;
  for (int i = 0; i < per_worker; ++i) {
    const int rank = runtime.rank() * per_worker + i;
    EngineProofs proofs;
    for (int r = 0; r < size && !runtime.options().job_token.empty() && net::has_hmac(); ++r) {
      proofs.out.push_back(engine_internal::pair_proof(runtime, name, rank, r));
      proofs.in.push_back(engine_internal::pair_proof(runtime, name, r, rank));
    }
    groups[size_t(i)]->connect(rank, addresses);
    result.push_back(std::make_unique<EngineMessages>(std::move(groups[size_t(i)]), rank, names,
                                                      std::move(proofs), spin_seconds));
  }
  return result;
}

}  // namespace distribute::collective
