#pragma once
/// Messages of a whole group's life: one operation after the other, until one fails.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

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
  /// Tells the other ranks, as far as that goes in a moment, and hangs up.
  virtual void hang_up(StatusCode code, const std::string& message) = 0;
};

}  // namespace distribute::collective
