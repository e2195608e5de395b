#pragma once
/// Messages of a whole group's life: one operation after the other, until one fails.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/departures.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <algorithm>
#include <string>

namespace distribute::collective {

/// What a Transport needs of its messages besides sending them. Used by one thread, but for
/// abort().
class GroupMessages : public Messages {
 public:
  /// What carries the bytes: "tcp", "ucx", ...
  virtual const char* name() const = 0;
  /// The messages from here on belong to `operation`.
  virtual void begin(const Operation& operation) = 0;

  /// Reads what has come, without waiting, while the caller waits elsewhere.
  /// Throws  as next().
  virtual void look() = 0;
  virtual void throw_if_aborted() = 0;

  /// From any thread: ends the wait of this rank, now and in future.
  virtual void abort(StatusCode code, const std::string& message) = 0;
  /// From any thread; see Transport::depart.
  void depart(int rank, const std::string& reason) {
    departures_.add(rank, reason);
    wake();
  }
  /// Tells the other ranks, as far as that goes in a moment, and hangs up.
  virtual void hang_up(StatusCode code, const std::string& message) = 0;

 protected:
  virtual void wake() = 0;

  /// How long a wait may sleep before it looks at departures_ again, in milliseconds.
  int most_sleep_ms(const Operation& operation) const {
    const int left = operation.deadline.left_ms();
    return departures_.any() ? std::min(left, 100) : left;
  }

  Departures departures_;
};

}  // namespace distribute::collective
