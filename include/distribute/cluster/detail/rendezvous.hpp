#pragma once
/// The leader's side of store, barrier and all_gather.

#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/deadline.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// Keeps the values and the waiting requests. It does no input and output: requests come in through
/// handle(), answers go out through `reply`. Thread-compatible.
class Rendezvous {
 public:
  using Time = net::Deadline::Clock::time_point;
  using Reply = std::function<void(int rank, const ControlMessage&)>;

  /// `names` are the names of the ranks in errors; an all_gather of more than `most` bytes is
  /// refused.
  Rendezvous(std::vector<std::string> names, size_t most, Reply reply)
      : names_(std::move(names)), most_(most), left_(names_.size()), reply_(std::move(reply)) {}

  /// Handles a Set, Get or Gather of `rank`.
  void handle(int rank, const ControlMessage& request, Time now);
  /// Notes that `rank` will send nothing more: requests that wait for it fail.
  void has_left(int rank);
  /// Answers ranks whose time is over, with the names of the missing ranks.
  void expire(Time now);
  /// Returns lines that are due about waiting all_gathers and barriers, each with the missing
  /// ranks.
  std::vector<std::string> lines(Time now);
  /// Returns the time at which expire() or lines() is due next; Time::max() for never.
  Time next_expiry() const;

 private:
  struct Waiter {
    int rank;
    uint64_t request;
    Time until;
  };
  struct Contribution {
    uint64_t request;
    Time until;
    std::string value;
    bool compares = false;  // whether the reply only says if all values are equal
  };
  using Gather = std::map<int, Contribution>;  // by rank
  struct Wait {
    Time begun;
    double next_line;  // seconds after its beginning
  };

  void set(int rank, const ControlMessage& request);
  void get(int rank, const ControlMessage& request, Time until);
  void gather(int rank, const ControlMessage& request, Time until, Time now);
  void answer_gather(const std::string& name, const Gather& gather);
  void refuse(int rank, uint64_t request, int code, const std::string& why);
  void expire_getters(Time now);
  void expire_gathers(Time now);
  std::string missing(const Gather& gather) const;
  int first_left() const;

  std::vector<std::string> names_;
  size_t most_;
  std::vector<bool> left_;
  Reply reply_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<Waiter>> getters_;
  std::map<std::string, Gather> gathers_;
  std::map<std::string, Wait> waits_;  // of gathers_, and of some that have ended
};

}  // namespace distribute::cluster_internal
