#pragma once
/// Collectives of jobs whose hosts hold several ranks.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/group_messages.hpp>
#include <distribute/collective/detail/hierarchical_reduction.hpp>
#include <distribute/collective/detail/host_layout.hpp>
#include <distribute/collective/detail/host_meeting.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/collective/detail/window.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// TCP or an engine between all ranks, and shared memory among those of each host: large
/// all-reduces cross the network once a host and not once a rank. For small ones the hosts' first
/// ranks exchange the arrays of all, and every rank sums them. Everything else, and all of it when
/// the ranks of a host do not follow each other, runs as on a TcpTransport. The bits are the same
/// everywhere.
class HierarchicalTransport final : public Transport {
 public:
  /// `host_of_rank` has a number for each rank, the same lists on all. `window` has a place for
  /// each rank of this host, in rank order, and arenas of kArenaBytes; null where a rank is alone
  /// on its host. Throws  InvalidArgumentError when the three do not fit together.
  HierarchicalTransport(TcpMesh mesh, const std::vector<int>& host_of_rank,
                        std::shared_ptr<Window> window, const TcpOptions& options = {});
  /// Over messages of another kind.
  HierarchicalTransport(std::unique_ptr<GroupMessages> messages,
                        const std::vector<int>& host_of_rank, std::shared_ptr<Window> window,
                        const TcpOptions& options = {});

  static constexpr int64_t kArenaBytes =
      HierarchicalReduction::kMostBytes + 2 * HostMeeting::kAreaBytes;

  const char* name() const override { return name_.c_str(); }
  int rank() const override { return messages_->rank(); }
  int size() const override { return messages_->size(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;

 private:
  void check() const;
  enum class Way { Flat, Chain, Gathered };
  Way way_of(const Operation& operation) const;
  void run(const Operation& operation);
  void run_chain(const Operation& operation);
  void run_gathered(const Operation& operation);
  void exchange(std::byte* arrays, int64_t bytes);
  void fail(const Error& error);

  const std::unique_ptr<GroupMessages> messages_;
  const std::string name_;  // "hierarchical" over TCP, else "hierarchical_ucx"
  MessageAlgorithms algorithms_;
  const HostLayout layout_;
  const bool uses_hosts_;
  const std::shared_ptr<Window> window_;
  std::unique_ptr<HostMeeting> meeting_;  // null: alone on the host, or not used
  const TcpOptions options_;
  Scratch scratch_;
};

}  // namespace distribute::collective
