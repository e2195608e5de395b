#pragma once
/// What the fuzzers of network messages run: any bytes may come from any host, and may be refused.

#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/cluster/detail/rendezvous.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/detail/handshake.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace fuzz {

/// Cuts `bytes` into frames, in pieces of changing size, until one is refused.
inline void frames(std::string_view bytes, uint64_t most,
                   const std::function<bool(const distribute::net::Frame&)>& next) {
  distribute::net::FrameReader reader(most);
  for (size_t piece = 1; !bytes.empty(); piece = piece % 37 + 1) {
    const auto space = reader.space();
    const size_t count = std::min({piece, space.size(), bytes.size()});
    std::memcpy(space.data(), bytes.data(), count);
    bytes.remove_prefix(count);
    if (!reader.filled(count).ok()) return;
    if (reader.complete() && !next(reader.take())) return;
  }
}

/// A control connection's stream, down to the leader's store and the lists inside messages.
inline void control_stream(std::string_view bytes) {
  namespace internal = distribute::cluster_internal;
  internal::Rendezvous rendezvous({"worker 0", "worker 1"}, 1 << 16,
                                  [](int, const internal::ControlMessage&) {});
  internal::ProgressBoard board(3);
  const distribute::net::Deadline::Clock::time_point now{};
  frames(bytes, 1 << 16, [&](const distribute::net::Frame& frame) {
    const auto message = internal::parse_control_message(frame);
    if (!message.ok()) return false;
    if (message->encode() != distribute::net::encode_frame(frame.type, frame.payload))
      __builtin_trap();
    rendezvous.handle(message->rank & 1, *message, now);
    rendezvous.expire(now + std::chrono::nanoseconds(message->request % 1000));
    internal::parse_members(message->value).status().IgnoreError();
    internal::parse_texts(message->value).status().IgnoreError();
    board.apply(message->value);
    return true;
  });
  rendezvous.has_left(1);
}

/// Frames from a stranger to a task; without a token the proofs are empty, so all steps are
/// reached.
inline void to_server(std::string_view bytes) {
  const distribute::net::HandshakeConfig config{
      .self = {"worker", 0, 1}, .job = "job", .token = ""};
  distribute::net::ServerHandshake server(config, nullptr);
  frames(bytes, distribute::net::kHandshakeFrameBytes, [&](const distribute::net::Frame& frame) {
    return server.on_frame(frame).ok() && !server.finished();
  });
}

/// Frames from any program that listens at a task's address.
inline void to_client(std::string_view bytes) {
  const distribute::net::HandshakeConfig config{
      .self = {"worker", 1, 1}, .job = "job", .token = ""};
  distribute::net::HandshakeHello hello;
  hello.server_type = "worker";
  distribute::net::ClientHandshake client(config, hello);
  if (!client.start().ok()) return;
  frames(bytes, distribute::net::kHandshakeFrameBytes, [&](const distribute::net::Frame& frame) {
    if (distribute::net::parse_refusal(frame.payload).ok()) __builtin_trap();  // never OK
    return client.on_frame(frame).ok() && !client.finished();
  });
}

/// What was read can be written and read again.
inline void address(std::string_view bytes) {
  const auto address = distribute::net::parse_address(bytes);
  if (address.ok() && !(*distribute::net::parse_address(address->text()) == *address))
    __builtin_trap();
}

/// Two descriptions, cut at the first zero byte.
inline void descriptions(std::string_view bytes) {
  const size_t cut = std::min(bytes.find('\0'), bytes.size());
  try {
    using namespace distribute::cluster_internal;
    const std::string a = canonical_json(std::string(bytes.substr(0, cut)));
    const std::string b =
        canonical_json(std::string(bytes.substr(std::min(cut + 1, bytes.size()))));
    if (first_difference({"a", "b"}, {a, b}).empty() != (a == b)) __builtin_trap();
  } catch (const distribute::InvalidArgumentError&) {
    // The one way to refuse.
  }
}

}  // namespace fuzz
