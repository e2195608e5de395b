#pragma once
/// Messages of a group during its whole life, for one operation after the other, until one fails.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/departures.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <algorithm>
#include <string>

namespace distribute::collective {

/// Messages with the other functions that a Transport needs. Used by one thread, except abort().
class GroupMessages : public Messages {
 public:
  /// Returns what carries the bytes: "tcp", "ucx", ...
  virtual const char* name() const = 0;
  /// Makes further messages belong to `operation`.
  virtual void begin(const Operation& operation) = 0;

  /// Reads messages that have come, without waiting, while the caller waits elsewhere.
  /// Throws  as next().
  virtual void look() = 0;
  virtual void throw_if_aborted() = 0;

  /// Ends running and later waits of this rank; any thread may call it.
  virtual void abort(StatusCode code, const std::string& message) = 0;
  /// Notes a departure; any thread may call it. See Transport::depart.
  void depart(int rank, const std::string& reason) {
    departures_.add(rank, reason);
    wake();
  }
  /// Tells the other ranks, as far as that is possible without waiting, and closes the connections.
  virtual void hang_up(StatusCode code, const std::string& message) = 0;

 protected:
  virtual void wake() = 0;

  /// Returns how long a wait may sleep before it checks departures_ again, in milliseconds.
  int most_sleep_ms(const Operation& operation) const {
    const int left = operation.deadline.left_ms();
    return departures_.any() ? std::min(left, 100) : left;
  }

  Departures departures_;
};

}  // namespace distribute::collective
