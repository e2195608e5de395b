#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/elastic_inquiry.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

namespace distribute::cluster_internal {

/// Asks a worker. A frozen one is not asked again for a while, as every question to it costs a
/// second.
DISTRIBUTE_INLINE MeetReply ElasticInquiry::ask(int index, bool wait_there) {
  if (Clock::now() < silent_until[index]) return {MeetAnswer::Silent};
  const auto deadline = net::Deadline::after_seconds(1);
  MeetRequest request = mine;
  request.only_asks = !wait_there;
  auto socket = reach(index, request, deadline);
  if (socket.ok()) {
    MeetReply reply = read_reply(index, *std::move(socket), deadline);
    if (reply.answer != MeetAnswer::Silent) return reply;
  } else if (absl::IsUnavailable(socket.status()) || net::is_not_served(socket.status())) {
    // It does not listen yet, or is just leaving.
    return {MeetAnswer::NotThere};
  } else if (!absl::IsDeadlineExceeded(socket.status())) {
    throw_if_error(socket.status());
  }
  silent_until[index] = Clock::now() + std::chrono::seconds(5);
  return {MeetAnswer::Silent};
}

DISTRIBUTE_INLINE absl::StatusOr<net::Socket> ElasticInquiry::reach(int index,
                                                                    const MeetRequest& request,
                                                                    net::Deadline deadline) {
  const ClusterMember& who = tasks.members[size_t(index)];
  const auto address = net::parse_address(who.address);
  if (!address.ok()) return address.status();
  auto socket = net::connect(*address, deadline);
  if (!socket.ok()) return socket;
  const auto remote = net::remote_address(socket->native());
  absl::Status status = remote.status();
  if (status.ok())
    status = net::check_exposure(*remote, server->config().authenticates(), options.insecure);
  if (!status.ok()) return status;
  net::HandshakeHello hello;
  hello.server_type = who.type;
  hello.server_index = who.index;
  hello.purpose = kMeetPurpose;
  hello.detail = net::encode_message(request);
  const auto incarnation = net::handshake(*socket, server->config(), hello, deadline);
  if (!incarnation.ok()) return incarnation.status();
  return socket;
}

DISTRIBUTE_INLINE MeetReply ElasticInquiry::read_reply(int index, net::Socket socket,
                                                       net::Deadline deadline) {
  const auto frame = net::read_frame(socket, uint64_t(options.max_message_bytes), deadline);
  if (!frame.ok())
    return {absl::IsDeadlineExceeded(frame.status()) ? MeetAnswer::Silent : MeetAnswer::NotThere};
  switch (MeetFrame(frame->type)) {
    case MeetFrame::Accepted:
      return {frame->payload == kTrains  ? MeetAnswer::Trains
              : frame->payload == kLeads ? MeetAnswer::Leads
                                         : MeetAnswer::Looks,
              index, std::move(socket)};
    case MeetFrame::Follow: return {MeetAnswer::Follows, std::atoi(frame->payload.c_str())};
    case MeetFrame::Finished: finished = true; return {};
    case MeetFrame::Refused:
      throw FailedPreconditionError(
          str_cat("this worker was started with other options than the job has: ",
                  first_difference({tasks.members[size_t(index)].name(), tasks.self().name()},
                                   {frame->payload, agreement})));
    default: return {};
  }
}

/// Asks the known leader, then all workers in order, and returns the first reply of one that leads,
/// or that names a leader with a lower index than this worker.
DISTRIBUTE_INLINE MeetReply ElasticInquiry::find_leader(int known_leader) {
  std::vector<int> order{known_leader};
  for (int index = 0; index < tasks.size(); ++index) order.push_back(index);
  for (const int index : order) {
    if (index < 0 || index == tasks.rank || finished) continue;
    MeetReply reply = ask_for_leader(index);
    if (reply.leads() || (reply.keeps() && reply.leader < tasks.rank)) return reply;
  }
  return {};
}

/// Asks a worker which one leads; it may name another one, which is then asked.
DISTRIBUTE_INLINE MeetReply ElasticInquiry::ask_for_leader(int index) {
  MeetReply reply = ask(index);
  const int other = reply.leader;
  const bool known = other >= 0 && other < tasks.size() && other != tasks.rank && other != index;
  return reply.answer == MeetAnswer::Follows && known ? ask(other) : std::move(reply);
}

DISTRIBUTE_INLINE MeetReply ElasticInquiry::lower_leader() {
  for (int index = 0; index < tasks.rank; ++index)
    if (MeetReply reply = ask(index); reply.keeps()) return reply;
  return {};
}

}  // namespace distribute::cluster_internal
