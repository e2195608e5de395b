#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/detail/tls_handshake.hpp>

#include <poll.h>

namespace distribute::net {

/// Reads the frame with which a task that does not use TLS answers.
DISTRIBUTE_INLINE absl::Status plain_answer(Socket& socket, Deadline deadline) {
  const auto frame = read_frame(socket, kHandshakeFrameBytes, deadline);
  if (frame.ok() && frame->type == uint16_t(HandshakeFrame::Refusal))
    return parse_refusal(frame->payload);
  return one_side_encrypts("the other side", "this task");
}

DISTRIBUTE_INLINE absl::Status one_side_encrypts(const std::string& plain_task,
                                                 const std::string& encrypting_task) {
  return absl::FailedPreconditionError(
      str_cat(encrypting_task, " encrypts its connections and ", plain_task,
              " does not: set DISTRIBUTE_TLS=1 in all tasks of the job or in none"));
}

DISTRIBUTE_INLINE absl::Status encrypt(Socket& socket,
                                       const std::shared_ptr<const TlsContext>& context,
                                       Deadline deadline) {
  const auto address = parse_address(socket.peer());
  TlsHandshake tls(context, TlsHandshake::Role::Client, socket.native(),
                   address.ok() ? address->host : socket.peer());
  bool answered = false;
  for (;;) {
    const auto first = answered ? std::nullopt : socket.peek_byte();
    answered = answered || first.has_value();
    if (first && *first != kTlsFirstByte && *first != kTlsAlertByte)
      return plain_answer(socket, deadline);
    if (absl::Status status = tls.advance(); !status.ok()) return status;
    if (tls.finished()) break;
    pollfd entry{socket.native(), tls.events(), 0};
    if (::poll(&entry, 1, deadline.left_ms()) == 0 && deadline.passed())
      return absl::DeadlineExceededError("the other side has not answered the TLS handshake");
  }
  socket.secure(tls.take_layer());
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status encrypt_pair(Socket& client, Socket& server,
                                            const std::shared_ptr<const TlsContext>& context,
                                            Deadline deadline) {
  TlsHandshake one(context, TlsHandshake::Role::Client, client.native());
  TlsHandshake other(context, TlsHandshake::Role::Server, server.native());
  while (!one.finished() || !other.finished()) {
    for (TlsHandshake* side : {&one, &other})
      if (absl::Status status = side->advance(); !status.ok()) return status;
    if (deadline.passed()) return absl::DeadlineExceededError("the TLS handshake takes too long");
  }
  client.secure(one.take_layer());
  server.secure(other.take_layer());
  return absl::OkStatus();
}

}  // namespace distribute::net
