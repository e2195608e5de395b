#pragma once
/// Collectives of jobs whose hosts hold several ranks.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/group_messages.hpp>
#include <distribute/collective/detail/host_layout.hpp>
#include <distribute/collective/detail/host_meeting.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/collective/detail/tree_plan.hpp>
#include <distribute/collective/detail/tree_sum.hpp>
#include <distribute/collective/detail/window.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// The plans of one host for sums in a job whose hosts hold several ranks.
struct HostPlans {
  /// The ranks of every host follow each other.
  HostPlans(const HostLayout& layout, int host);

  TreePlan down;  // of the hosts, for results
  TreePlan up;    // of the ranks: a host starts with the sums of the branches that it has whole
};

/// Sums among hosts with a TreeSum for each segment of the array. A segment has a carrier on every
/// host, so that the ranks of a host share the work and the connections. The other ranks put their
/// elements into the host's shared memory; the carrier sums the branches of the tree that its host
/// has whole, and takes part in the sum for its host. It puts the result into its host's shared
/// memory. A rank announces elements in shared memory by an empty message.
/// Units   bytes on the wire per host and direction: 2 (hosts - 1) / hosts * size where the ranks
/// of
///         every host are a branch of the tree, at most 1.5 times as many elsewhere; partial
///         results of 16-bit floats go as float32.
class HierarchicalReduction {
 public:
  /// Largest shared memory of a rank.
  static constexpr int64_t kMostBytes = 32 << 20;

  /// `layout` is contiguous and has several hosts; `window` is that of this rank's host, null for a
  /// rank that is alone there. `operation` is an AllReduce.
  HierarchicalReduction(Messages& messages, Scratch& scratch, const HostLayout& layout,
                        const HostPlans& plans, const Window* window, const Operation& operation,
                        int64_t section_bytes);
  void run();

 private:
  static constexpr uint32_t kHello = 0, kPut = 1, kShown = 2;

  void greet();
  void expect();
  void advance();
  void enter(int64_t segment);
  void put(int64_t segment);
  void arrive(int64_t segment);
  void add(int64_t segment);
  void show_if_done(int64_t segment);
  void take(int64_t segment);
  void handle(const Messages::Event& event);

  int ranks_on(int host) const { return int(layout_.members(host).size()); }
  int carrier(int64_t segment, int host) const;
  bool carries(int64_t segment) const { return carrier(segment, host_) == rank_; }
  int64_t count_of(int64_t segment) const;
  int64_t bytes_of(int64_t segment) const { return count_of(segment) * width_; }
  const std::byte* input(int64_t segment) const;
  std::byte* output(int64_t segment) const;
  std::byte* put_place(int rank, int64_t segment) const;
  /// Returns where a member's elements are.
  const std::byte* elements_of(int rank, int64_t segment) const;
  /// Returns memory that the host shares; for a rank that is alone, its output.
  std::byte* result_place(int rank, int64_t segment) const;
  int64_t own(int64_t segment) const { return segment / ranks_on(host_); }
  int64_t slot(int64_t segment) const { return own(segment) % int64_t(sums_.size()); }
  std::byte* leaf_place(int64_t segment, size_t leaf) const;

  Messages& messages_;
  const HostLayout& layout_;
  const HostPlans& plans_;
  const Window* window_;
  const Operation& operation_;
  const int rank_, host_;
  const int64_t width_, sum_width_;
  const int64_t ahead_;  // largest number of segments in progress, the same on all hosts
  const int64_t segment_, segments_;
  int64_t memory_bytes_ = 0;  // of a segment that this rank carries
  std::byte* memory_ = nullptr;
  std::deque<TreeSum> sums_;
  std::vector<int> missing_;  // of own segments: parts for which add() waits
  std::vector<bool> done_;    // whether this rank is done with the segment
  // all segments below low_ are done, those below entered_ have begun
  int64_t low_ = 0, entered_ = 0;
};

/// Uses TCP or an engine between all ranks, and shared memory among those of each host: large
/// all-reduces cross the network once a host and not once a rank. For small ones the hosts' first
/// ranks exchange the arrays of all, and every rank sums them. All other collectives, and all of
/// them when the ranks of a host are not consecutive, run as on a TcpTransport. The bits are the
/// same in all cases.
class HierarchicalTransport final : public Transport {
 public:
  /// `host_of_rank` has a number for each rank, the same lists on all. `window` has a place for
  /// each rank of this host, in rank order, and arenas of kArenaBytes; it is null if a rank is
  /// alone on its host.
  /// Throws  InvalidArgumentError when the three do not fit together.
  HierarchicalTransport(TcpMesh mesh, const std::vector<int>& host_of_rank,
                        std::shared_ptr<Window> window, const TcpOptions& options = {});
  /// Uses messages of another kind.
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
  DISTRIBUTE_INLINE void depart(int rank, const std::string& reason) override;

 private:
  void check() const;
  enum class Way { Flat, Tree, Gathered };
  Way way_of(const Operation& operation) const;
  void run(const Operation& operation);
  void run_tree(const Operation& operation);
  void run_gathered(const Operation& operation);
  void exchange(std::byte* arrays, int64_t bytes);
  void fail(const Error& error);

  const std::unique_ptr<GroupMessages> messages_;
  const std::string name_;  // "hierarchical" over TCP, else "hierarchical_ucx"
  MessageAlgorithms algorithms_;
  const HostLayout layout_;
  const bool uses_hosts_;
  std::unique_ptr<const HostPlans> plans_;  // null if not used
  const std::shared_ptr<Window> window_;
  std::unique_ptr<HostMeeting> meeting_;  // null if alone on the host, or not used
  const TcpOptions options_;
  Scratch scratch_;
};

}  // namespace distribute::collective
