#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/hierarchical_transport.hpp>

#include <chrono>
#include <span>
#include <string_view>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE HierarchicalTransport::HierarchicalTransport(TcpMesh mesh,
                                                               const std::vector<int>& host_of_rank,
                                                               std::shared_ptr<Window> window,
                                                               const TcpOptions& options)
    : HierarchicalTransport(
          std::make_unique<TcpMessages>(mesh.rank, std::move(mesh.flows), options.spin_seconds,
                                        std::move(mesh.links)),
          host_of_rank, std::move(window), options) {}

DISTRIBUTE_INLINE HierarchicalTransport::HierarchicalTransport(
    std::unique_ptr<GroupMessages> messages, const std::vector<int>& host_of_rank,
    std::shared_ptr<Window> window, const TcpOptions& options)
    : messages_(std::move(messages)),
      name_(std::string_view(messages_->name()) == "tcp"
                ? "hierarchical"
                : str_cat("hierarchical_", messages_->name())),
      algorithms_(*messages_, options.costs, options.segment_bytes),
      layout_(host_of_rank),
      uses_hosts_(layout_.hosts() > 1 && layout_.most_members() > 1 && layout_.is_contiguous()),
      window_(std::move(window)),
      options_(options) {
  check();
  if (uses_hosts_) plans_ = std::make_unique<HostPlans>(layout_, layout_.host_of(rank()));
  if (uses_hosts_ && layout_.members(layout_.host_of(rank())).size() > 1)
    meeting_ =
        std::make_unique<HostMeeting>(window_, layout_, rank(), HierarchicalReduction::kMostBytes,
                                      departures_, [this] { messages_->look(); });
}

DISTRIBUTE_INLINE void HierarchicalTransport::check() const {
  if (layout_.ranks() != size())
    throw InvalidArgumentError(
        str_cat("the hosts of ", layout_.ranks(), " ranks are given, for a group of ", size()));
  const size_t members = layout_.members(layout_.host_of(rank())).size();
  if (members == 1) return;
  if (!window_ || window_->ranks() != int(members))
    throw InvalidArgumentError(str_cat("rank ", rank(), " shares its host with ", members - 1,
                                       " others, but its shared memory is for ",
                                       window_ ? window_->ranks() : 0, " ranks"));
  if (int64_t(window_->arena(0).size()) < kArenaBytes)
    throw InvalidArgumentError(str_cat("the shared memory of a host has arenas of ",
                                       window_->arena(0).size(), " bytes, ", kArenaBytes,
                                       " are needed"));
}

/// Returns the same on all ranks, as it depends only on the layout and the operation.
DISTRIBUTE_INLINE HierarchicalTransport::Way HierarchicalTransport::way_of(
    const Operation& operation) const {
  if (operation.kind != Collective::AllReduce || !uses_hosts_) return Way::Flat;
  const int64_t bytes = bytes_of(operation);
  const AllReduceAlgorithm flat =
      choose_algorithm(bytes, size(), options_.costs, options_.segment_bytes);
  if (flat == AllReduceAlgorithm::Direct || flat == AllReduceAlgorithm::Halving) return Way::Tree;
  if (layout_.hosts() > kMostDirectRanks) return Way::Flat;
  return bytes * size() <= HostMeeting::kAreaBytes ? Way::Gathered : Way::Tree;
}

DISTRIBUTE_INLINE void HierarchicalTransport::run_tree(const Operation& operation) {
  if (meeting_) meeting_->come(operation);
  messages_->begin(operation);
  HierarchicalReduction(*messages_, scratch_, layout_, *plans_, window_.get(), operation,
                        section_bytes(layout_.hosts(), options_.costs, options_.segment_bytes))
      .run();
}

/// All ranks' arrays in rank order, in the memory of every host; each rank sums them. A rank that
/// waits for waiting ranks gives these time to name the missing one.
DISTRIBUTE_INLINE void HierarchicalTransport::run_gathered(const Operation& operation) {
  using namespace std::chrono_literals;
  const int64_t bytes = bytes_of(operation);
  std::byte* arrays = meeting_ ? meeting_->area(operation) : scratch_.take(bytes * size());
  copy_bytes(arrays + rank() * bytes, operation.input, bytes);
  if (meeting_) {
    meeting_->come(operation);
    meeting_->wait_for_all(operation);
  }
  const bool speaks = layout_.local_index(rank()) == 0;
  if (speaks) {
    Operation patient = operation;
    patient.deadline = net::Deadline::after(operation.deadline.left() + 1s);
    messages_->begin(patient);
    exchange(arrays, bytes);
  }
  if (meeting_ && speaks) meeting_->release();
  if (meeting_ && !speaks)
    meeting_->wait_for_release(operation, net::Deadline::after(operation.deadline.left() + 6s));
  std::vector<const void*> inputs;
  for (int r = 0; r < size(); ++r) inputs.push_back(arrays + r * bytes);
  combine(operation.op, operation.dtype, inputs, operation.output, operation.count);
}

/// Exchanges arrays between the first ranks of the hosts: each sends those of its host to all
/// others.
DISTRIBUTE_INLINE void HierarchicalTransport::exchange(std::byte* arrays, int64_t bytes) {
  const auto part = [&](int host) {
    const std::vector<int>& ranks = layout_.members(host);
    return std::span(arrays + ranks[0] * bytes, ranks.size() * size_t(bytes));
  };
  const int mine = layout_.host_of(rank());
  for (int host = 0; host < layout_.hosts(); ++host) {
    if (host == mine) continue;
    messages_->receive(layout_.members(host)[0], tag_of(0, 0), part(host));
    messages_->send(layout_.members(host)[0], tag_of(0, 0), part(mine), false);
  }
  messages_->finish();
}

DISTRIBUTE_INLINE void HierarchicalTransport::run(const Operation& operation) {
  switch (way_of(operation)) {
    case Way::Tree: return run_tree(operation);
    case Way::Gathered: return run_gathered(operation);
    case Way::Flat: break;
  }
  const bool collective =
      operation.kind != Collective::Send && operation.kind != Collective::Receive;
  if (meeting_ && collective) meeting_->come(operation);
  messages_->begin(operation);
  algorithms_.run(operation);
}

DISTRIBUTE_INLINE void HierarchicalTransport::fail(const Error& error) {
  if (meeting_) meeting_->fail(error.code(), error.what());
  messages_->abort(error.code(), error.what());
  messages_->hang_up(error.code(), error.what());
}

DISTRIBUTE_INLINE void HierarchicalTransport::execute(const Operation& operation) {
  try {
    messages_->throw_if_aborted();
    run(operation);
  } catch (const Error& error) {
    fail(error);
    throw;
  }
}

DISTRIBUTE_INLINE void HierarchicalTransport::abort(StatusCode code, const std::string& message) {
  messages_->abort(code, message);
}

DISTRIBUTE_INLINE void HierarchicalTransport::depart(int rank, const std::string& reason) {
  Transport::depart(rank, reason);
  messages_->depart(rank, reason);
}

}  // namespace distribute::collective
