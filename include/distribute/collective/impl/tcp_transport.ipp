#pragma once
#include <distribute/collective/detail/tcp_transport.hpp>

#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE TcpTransport::TcpTransport(TcpMesh mesh, const TcpOptions& options)
    : messages_(mesh.rank, std::move(mesh.flows), options.spin_seconds, std::move(mesh.links)),
      algorithms_(messages_, options.costs, options.segment_bytes) {}

DISTRIBUTE_INLINE void TcpTransport::execute(const Operation& operation) {
  try {
    messages_.begin(operation);
    algorithms_.run(operation);
  } catch (const Error& error) {
    messages_.abort(error.code(), error.what());
    messages_.hang_up(error.code(), error.what());
    throw;
  }
}

DISTRIBUTE_INLINE void TcpTransport::abort(StatusCode code, const std::string& message) {
  messages_.abort(code, message);
}

}  // namespace distribute::collective
