#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/cost_model.hpp>
#include <distribute/collective/hierarchical_transport.hpp>

#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE HierarchicalTransport::HierarchicalTransport(TcpMesh mesh,
                                                               const std::vector<int>& host_of_rank,
                                                               std::shared_ptr<Window> window,
                                                               const TcpOptions& options)
    : messages_(mesh.rank, std::move(mesh.flows), options.spin_seconds),
      algorithms_(messages_, options.costs, options.segment_bytes),
      layout_(host_of_rank),
      window_(std::move(window)),
      options_(options) {
  check();
}

DISTRIBUTE_INLINE void HierarchicalTransport::check() const {
  if (layout_.ranks() != size())
    throw InvalidArgumentError(
        concat("the hosts of ", layout_.ranks(), " ranks are given, for a group of ", size()));
  const size_t members = layout_.members(layout_.host_of(rank())).size();
  if (members == 1) return;
  if (!window_ || window_->ranks() != int(members))
    throw InvalidArgumentError(concat("rank ", rank(), " shares its host with ", members - 1,
                                      " others, but its shared memory is for ",
                                      window_ ? window_->ranks() : 0, " ranks"));
  if (int64_t(window_->arena(0).size()) < HierarchicalReduction::kMostBytes)
    throw InvalidArgumentError(concat("the shared memory of a host has arenas of ",
                                      window_->arena(0).size(), " bytes, ",
                                      HierarchicalReduction::kMostBytes, " are needed"));
}

/// The same answer on all ranks: it depends on the layout and the operation alone.
DISTRIBUTE_INLINE bool HierarchicalTransport::through_hosts(const Operation& operation) const {
  if (operation.kind != Collective::AllReduce || layout_.hosts() < 2) return false;
  if (layout_.most_members() < 2 || !layout_.is_contiguous()) return false;
  const AllReduceAlgorithm flat =
      choose_algorithm(bytes_of(operation), size(), options_.costs, options_.segment_bytes);
  return flat == AllReduceAlgorithm::Direct || flat == AllReduceAlgorithm::Chain;
}

DISTRIBUTE_INLINE void HierarchicalTransport::run(const Operation& operation) {
  if (!through_hosts(operation)) return algorithms_.run(operation);
  const int64_t segment = chain_segment_bytes(bytes_of(operation), layout_.hosts(), options_.costs,
                                              options_.segment_bytes);
  HierarchicalReduction(messages_, scratch_, layout_, window_.get(), operation, segment).run();
}

DISTRIBUTE_INLINE void HierarchicalTransport::execute(const Operation& operation) {
  try {
    messages_.begin(operation);
    run(operation);
  } catch (const Error& error) {
    messages_.abort(error.code(), error.what());
    messages_.hang_up(error.code(), error.what());
    throw;
  }
}

DISTRIBUTE_INLINE void HierarchicalTransport::abort(StatusCode code, const std::string& message) {
  messages_.abort(code, message);
}

}  // namespace distribute::collective
