#pragma once
/// Tracks which ranks submitted which operation and decides what runs next.

#include <distribute/base/config.hpp>
#include <distribute/horovod/detail/request.hpp>
#include <distribute/net/deadline.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::horovod_internal {

struct NegotiationOptions {
  /// limit in bytes of operations that are sent together
  int64_t fusion_threshold = int64_t{128} << 20;
  /// seconds between lines about an operation that waits; 0: no line; unset: a line after 10, 30
  /// and 60 s, then each minute
  std::optional<double> stall_warning = {};
  double stall_limit = 300;                  // seconds until the job fails; 0: never
  std::function<std::string(int)> describe;  // names a rank in messages
};

/// Decides, from the requests of the ranks, what they do next. It has no input, output or clock.
/// Thread-compatible.
///
/// Invariants:
/// 1. An operation is known by process set and name. `pending_` has it from its first request until
///    every member of the set has submitted it or has joined.
/// 2. An operation leaves `pending_` once: all members carry it out, or all get the same error.
/// 3. Answers are in the order in which operations became complete; those of a group come together.
/// 4. After a rank has left, operations of its sets are refused with the first leaver's reason, and
///    groups no longer wait for their members.
/// 5. Process set 0 has all ranks and is never removed.
class Negotiation {
 public:
  using Time = net::Deadline::Clock::time_point;
  /// A response and the ranks that get it.
  struct Answer {
    std::vector<int> ranks;
    Response response;
  };

  Negotiation(int ranks, NegotiationOptions options);

  void submit(int rank, const Request& request, Time now);
  /// The rank takes part in nothing any more. `why` is a text such as "has called hvd::shutdown()".
  void leave(int rank, const std::string& why);
  /// Takes all decisions since the last call; small all-reduces of one kind form one response.
  std::vector<Answer> take();
  /// Gives a text for every operation that has waited until its next line. After the limit it fails
  /// the job.
  std::vector<std::string> stalls(Time now);
  /// The time at which stalls() may have something new; Time::max() for never.
  Time next_stall() const;

 private:
  struct Pending {
    Request first;
    int first_rank = 0;
    Time since{};
    double next_line = -1;                      // seconds of waiting; -1: before the first look
    std::string problem;                        // the reason why it will fail
    std::map<int, std::vector<int64_t>> parts;  // rows or splits of each rank
  };
  using Key = std::pair<int32_t, std::string>;  // process set and name

  void join(int rank, const Request& request);
  std::string refusal(int rank, const Request& request) const;
  std::string difference(const Pending& pending, int rank, const Request& request) const;
  std::string set_problem(const Request& request) const;
  bool is_complete(const Pending& pending) const;
  void finish_complete();
  void finish(const Key& key, Pending pending);
  Entry entry_of(const Pending& pending) const;
  void apply(const Request& request, Response& response);
  void decide(const Request& request, Answer answer);
  void refuse(std::vector<int> ranks, const Request& request, const std::string& why,
              StatusCode code = StatusCode::FailedPrecondition);
  void fuse(std::vector<Answer>& answers, Answer ready) const;
  double next_line_after(double seconds) const;
  double next_line_of(const Pending& pending) const;
  std::string missing(const Pending& pending) const;
  std::string names(const std::vector<int>& ranks) const;

  const NegotiationOptions options_;
  std::vector<std::string> left_;  // why each rank has left; empty: it has not
  std::vector<int> leavers_;       // in order; others may leave because of the first
  std::vector<bool> joined_;
  int num_joined_ = 0;
  std::map<int32_t, std::vector<int>> sets_;
  int32_t last_set_ = 0;
  std::map<Key, Pending> pending_;
  std::map<Key, std::vector<Answer>> groups_;  // ready members of incomplete groups, by group
  std::deque<std::vector<Answer>> ready_;      // decisions, each with one or more operations
};

}  // namespace distribute::horovod_internal
