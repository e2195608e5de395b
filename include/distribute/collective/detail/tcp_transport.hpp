#pragma once
/// Collectives between processes and hosts that are connected by TCP.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/net/socket.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::collective {

/// A rank's connections: `flows[peer]` are the sockets to that rank, at least one each and equally
/// many at both ends; empty for the rank itself.
struct TcpMesh {
  int rank = 0;
  std::vector<std::vector<net::Socket>> flows;
};

struct TcpOptions {  // of TCP between ranks
  /// Must be the same on all ranks, as the algorithms are chosen by them.
  LinkCosts costs = {};
  int64_t segment_bytes = 512 << 10;  // what large arrays are cut into
  /// How long a rank looks for messages before it sleeps; negative: as long as it helps.
  double spin_seconds = -1;
};

/// One rank of a group whose pairs are all connected. Sends of more than 64 KiB may wait for their
/// receive. After an error every call throws it again; the other ranks get the same error.
class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpMesh mesh, const TcpOptions& options = {});

  const char* name() const override { return "tcp"; }
  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;

 private:
  TcpMessages messages_;
  MessageAlgorithms algorithms_;
};

}  // namespace distribute::collective
