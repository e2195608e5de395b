#pragma once
/// Connections that a group makes when they are needed, and how many it makes at most.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::collective {

/// Makes further connections of one rank. Any two ranks may both dial at the same moment, as they
/// use all connections between them. Used by one thread.
class Links {
 public:
  struct Arrived {
    int rank = 0;
    net::Socket socket;
  };

  virtual ~Links() = default;

  /// Takes connections from now on; `wake` is called by another thread when one has arrived.
  virtual void start(std::function<void()> wake) = 0;
  /// Returns "worker 2 (10.0.0.3:2222)", for messages.
  virtual std::string name(int rank) const = 0;
  /// Returns how many connections to a rank are useful; most_connections() of all together.
  virtual int most_flows(int rank) const = 0;
  virtual int most_connections() const = 0;
  /// Connects to a rank.
  /// Throws  TaskLeftError when its task has left the job; the failure of the job;
  ///         DeadlineExceededError.
  virtual net::Socket dial(int rank, net::Deadline deadline) = 0;
  /// Returns the connections that other ranks have made since the last call.
  virtual std::vector<Arrived> arrived() = 0;
  /// Sends these bytes, instead of all else, to the ranks that connect from now on.
  virtual void close(const std::string& farewell) = 0;
};

/// Returns the ranks with which a group's algorithms exchange most: all others in a small group,
/// else those whose number differs in one binary digit. It is symmetric.
std::vector<int> first_peers(int rank, int ranks);
/// Returns the largest number of connections that one rank makes by itself besides the first ones:
/// 8 log2(ranks).
int most_connections(int ranks);
/// Returns the number of connections to a rank on another host, 1 to 4, that keeps the first peers
/// within most_connections(): one connection rarely fills a fast network.
int most_flows(int ranks);

}  // namespace distribute::collective
