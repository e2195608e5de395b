#pragma once
/// A free TCP port of the loopback interface that no other program gets while it is held.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

namespace distribute::launch {

/// Holds a socket that is bound but does not listen. The system gives its port to no program that
/// asks for any free port, and connections to it are refused; but one that asks for this very
/// port with SO_REUSEADDR (every usual server, Asio's acceptor among them) or SO_REUSEPORT (gRPC)
/// gets it. So there is no moment between choosing the port and its use in which it can be lost,
/// and a task that is started again finds it. A program that sets neither option gets EADDRINUSE.
class ReservedPort {
 public:
  /// `wanted` 0 takes any.
  /// Throws  UnavailableError when the port is taken, or none is left.
  explicit ReservedPort(int wanted = 0);
  int number() const { return number_; }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace distribute::launch
