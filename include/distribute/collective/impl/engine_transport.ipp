#pragma once
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/detail/engine_transport.hpp>
#include <distribute/collective/detail/spin_time.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace distribute::collective {

namespace engine_internal {

DISTRIBUTE_INLINE std::optional<int> dtype_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return DISTRIBUTE_ENGINE_FLOAT32;
    case DType::Int32: return DISTRIBUTE_ENGINE_INT32;
    case DType::Int64: return DISTRIBUTE_ENGINE_INT64;
    case DType::UInt8: return DISTRIBUTE_ENGINE_UINT8;
    default: return {};  // 16-bit floats add in float32 here, and MPI has none
  }
}

DISTRIBUTE_INLINE std::optional<int> op_of(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum: return DISTRIBUTE_ENGINE_SUM;
    case ReductionOp::Min: return DISTRIBUTE_ENGINE_MIN;
    case ReductionOp::Max: return DISTRIBUTE_ENGINE_MAX;
    case ReductionOp::Product: return DISTRIBUTE_ENGINE_PRODUCT;
    case ReductionOp::Mean: break;
  }
  return {};
}

}  // namespace engine_internal

DISTRIBUTE_INLINE EngineTransport::EngineTransport(std::unique_ptr<EngineMessages> messages,
                                                   const EngineTransportOptions& options)
    : messages_(std::move(messages)),
      options_(options),
      algorithms_(*messages_, {}, kEngineSegmentBytes) {}

/// Returns the same on all ranks, as it depends only on the operation and the options.
DISTRIBUTE_INLINE bool EngineTransport::engine_reduces(const Operation& operation) const {
  return !options_.rank_order && messages_->group().reduces() && size() > 1 &&
         operation.kind == Collective::AllReduce && operation.count < (int64_t{1} << 31) &&
         bytes_of(operation) >= options_.own_all_reduce_bytes &&
         engine_internal::dtype_of(operation.dtype) && engine_internal::op_of(operation.op);
}

/// Before the all-reduce each rank sends the next an empty message, whose head names its operation,
/// as MPI does not survive ranks that run different collectives.
DISTRIBUTE_INLINE void EngineTransport::all_reduce(const Operation& operation) {
  messages_->receive((rank() + size() - 1) % size(), tag_of(0, 0), {});
  messages_->send((rank() + 1) % size(), tag_of(0, 0), {}, false);
  messages_->finish();
  messages_->all_reduce(*engine_internal::dtype_of(operation.dtype),
                        *engine_internal::op_of(operation.op));
  messages_->finish();
}

DISTRIBUTE_INLINE void EngineTransport::execute(const Operation& operation) {
  try {
    messages_->begin(operation);
    engine_reduces(operation) ? all_reduce(operation) : algorithms_.run(operation);
  } catch (const Error& error) {
    messages_->abort(error.code(), error.what());
    messages_->hang_up(error.code(), error.what());
    throw;
  }
}

DISTRIBUTE_INLINE void EngineTransport::abort(StatusCode code, const std::string& message) {
  messages_->abort(code, message);
}

DISTRIBUTE_INLINE const Engine& engine_or_throw(EngineKind kind) {
  std::string problem;
  const Engine* engine = find_engine(kind, problem);
  if (!engine) throw UnavailableError(problem);
  return *engine;
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_mpi_transport(
    const Engine& engine, const EngineTransportOptions& options) {
  auto group = std::make_unique<EngineGroup>(engine);
  const int rank = group->rank(), ranks = group->size();
  std::vector<std::string> names;
  for (int r = 0; r < ranks; ++r) names.push_back(str_cat("rank ", r));
  const double spin = useful_spin(options.ranks_on_host > 0 ? options.ranks_on_host : ranks);
  return std::make_unique<EngineTransport>(
      std::make_unique<EngineMessages>(std::move(group), rank, std::move(names), EngineProofs{},
                                       spin),
      options);
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_mpi_transport(
    const EngineTransportOptions& options) {
  return make_mpi_transport(engine_or_throw(mpi_of_process()), options);
}

namespace engine_internal {

/// Makes one rank of a group over UCX that has an address for each.
DISTRIBUTE_INLINE std::unique_ptr<Transport> ucx_transport(
    std::unique_ptr<EngineGroup> group, int rank, const std::vector<std::string>& addresses) {
  const int ranks = int(addresses.size());
  std::vector<std::string> names;
  for (int r = 0; r < ranks; ++r) names.push_back(str_cat("rank ", r));
  group->connect(rank, addresses);
  return std::make_unique<EngineTransport>(std::make_unique<EngineMessages>(
      std::move(group), rank, std::move(names), EngineProofs{}, useful_spin(ranks)));
}

}  // namespace engine_internal

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_ucx_transport(Communicator& known) {
  auto group = std::make_unique<EngineGroup>(engine_or_throw(EngineKind::Ucx));
  std::string mine = group->address();
  int64_t bytes = int64_t(mine.size());
  known.all_reduce(&bytes, 1, DType::Int64, ReductionOp::Max);
  mine.resize(size_t(bytes));  // an address says itself where it ends
  std::string all(size_t(bytes * known.size()), '\0');
  known.all_gather(mine.data(), all.data(), std::vector<int64_t>(size_t(known.size()), bytes),
                   DType::UInt8);
  std::vector<std::string> addresses;
  for (int r = 0; r < known.size(); ++r)
    addresses.push_back(all.substr(size_t(r * bytes), size_t(bytes)));
  return engine_internal::ucx_transport(std::move(group), known.rank(), addresses);
}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> make_ucx_transports(int ranks) {
  const Engine& engine = engine_or_throw(EngineKind::Ucx);
  std::vector<std::unique_ptr<EngineGroup>> groups;
  std::vector<std::string> addresses;
  for (int r = 0; r < ranks; ++r) {
    groups.push_back(std::make_unique<EngineGroup>(engine));
    addresses.push_back(groups.back()->address());
  }
  std::vector<std::unique_ptr<Transport>> transports;
  for (int r = 0; r < ranks; ++r)
    transports.push_back(
        engine_internal::ucx_transport(std::move(groups[size_t(r)]), r, addresses));
  return transports;
}

}  // namespace distribute::collective
