#pragma once
/// Collectives between processes and hosts that are connected by TCP.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/links.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/net/socket.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// A rank's connections: `flows[peer]` are the sockets to that rank; empty for the rank itself, and
/// for ranks to which `links` make a connection when there is something to send.
struct TcpMesh {
  int rank = 0;
  std::vector<std::vector<net::Socket>> flows;
  std::unique_ptr<Links> links = nullptr;  // null: all connections are in `flows`
};

struct TcpOptions {  // options of TcpTransport
  /// Must be the same on all ranks, as they determine the algorithms.
  LinkCosts costs = {};
  int64_t segment_bytes = 512 << 10;  // size of the segments of large arrays
  /// Time of polling for messages before sleeping; negative: chosen by the number of ranks on the
  /// host.
  double spin_seconds = -1;
};

/// One rank of a group of which every pair is, or can be, connected. Sends of more than 64 KiB may
/// wait for their receive. After an error every call throws it again; the other ranks get the same
/// error.
class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpMesh mesh, const TcpOptions& options = {});

  const char* name() const override { return "tcp"; }
  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;
  void depart(int rank, const std::string& reason) override { messages_.depart(rank, reason); }

 private:
  TcpMessages messages_;
  MessageAlgorithms algorithms_;
};

}  // namespace distribute::collective
