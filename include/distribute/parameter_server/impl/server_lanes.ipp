#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>
#include <distribute/parameter_server/detail/server_lanes.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>

#include <algorithm>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE ServerLanes::ServerLanes(std::shared_ptr<rpc::JobTask> task,
                                           const ClientOptions& options)
    : task_(std::move(task)) {
  if (!task_->cluster().has_job("ps"))
    throw InvalidArgumentError("parameter servers: There must be at least one ps.");
  const auto deadline = net::Deadline::after_seconds(task_->options().startup_timeout);
  for (const int index : task_->cluster().task_indices("ps")) connect(index, options, deadline);
}

DISTRIBUTE_INLINE void ServerLanes::connect(int index, const ClientOptions& options,
                                            net::Deadline deadline) {
  Server& server = *servers_.emplace_back(std::make_unique<Server>());
  server.gradients = std::make_shared<GradientMemory>(nullptr);
  server.peer = task_->peer("ps", index, deadline);
  server.first_lane = num_lanes();
  open_lane(server, deadline);
  if (options.transport != Transport::Tcp) share_memory(server, *links_.back(), deadline);
  if (options.transport == Transport::SharedMemory && !server.arena)
    throw FailedPreconditionError(
        str_cat(server.peer->text(), " does not share memory with this task"));
  for (int more = flows(server, options) - 1; more > 0; --more) open_lane(server, deadline);
  check_version(index, deadline);
}

DISTRIBUTE_INLINE void ServerLanes::check_version(int index, net::Deadline deadline) {
  const std::string theirs = call(index, "ps/version", "", deadline);
  if (theirs != kVersion)
    throw FailedPreconditionError(str_cat(task_->self().name(), " runs distribute ", kVersion, ", ",
                                          at(index).peer->text(), ' ', theirs,
                                          ": run the same build in all tasks"));
}

DISTRIBUTE_INLINE void ServerLanes::open_lane(Server& server, net::Deadline deadline) {
  Lane& lane = lanes_.emplace_back();
  lane.link = std::make_unique<ServerLink>(server.peer,
                                           task_->dial(*server.peer, kLinkPurpose, "", deadline));
  links_.push_back(lane.link.get());
  ++server.lanes;
}

/// Returns the number of connections. On one host a second one gives no bandwidth; between hosts a
/// single one is often slower than the line.
DISTRIBUTE_INLINE int ServerLanes::flows(const Server& server, const ClientOptions& options) const {
  if (server.arena) return 1;
  if (options.flows > 0) return options.flows;
  const auto address = net::parse_address(server.peer->name().address);
  return address.ok() && address->is_loopback() ? 1 : 4;
}

DISTRIBUTE_INLINE void ServerLanes::share_memory(Server& server, ServerLink& link,
                                                 net::Deadline deadline) {
  ServerLink::Request request{.type = LinkRequest::Share};
  request.request = net::encode_message(ShareRequest{host_identity()});
  const Answer answer = link.send(std::move(request));
  ServerLink* const only = &link;
  ServerLink::drive(
      std::span(&only, 1), [&] { return answer->done; }, deadline);
  const auto offer = net::parse_message<ShareAnswer>(answer->answer, "share");
  if (answer->code != StatusCode::Ok || !offer.ok() || offer->socket.empty()) return;
  auto own = SharedArena::create();
  auto socket = net::connect_to_descriptors(offer->socket, deadline);
  if (!own || !socket.ok()) return;
  const auto descriptor = net::receive_descriptor(*socket, deadline);
  if (!descriptor.ok()) return;
  auto theirs = SharedArena::attach(*descriptor);
  if (!theirs || !net::send_descriptor(*socket, own->descriptor()).ok()) return;
  std::byte done{0};
  if (!socket->read({&done, 1}, deadline).ok() || done != std::byte{1}) return;
  server.arena = std::move(theirs);
  server.gradients = std::make_shared<GradientMemory>(std::move(own));
}

DISTRIBUTE_INLINE std::shared_ptr<rpc::RpcChannel> ServerLanes::take_channel(
    Server& server, net::Deadline deadline) {
  {
    const std::lock_guard lock(server.mutex);
    if (!server.idle.empty()) {
      auto channel = std::move(server.idle.back());
      server.idle.pop_back();
      return channel;
    }
  }
  // The channel belongs to this start of the server; it does not wait for a later one.
  return std::make_shared<rpc::RpcChannel>(
      server.peer, task_->dial(*server.peer, rpc::kRpcPurpose, "", deadline),
      task_->options().max_message_bytes);
}

DISTRIBUTE_INLINE std::string ServerLanes::call(int index, const std::string& method,
                                                std::string_view body, net::Deadline deadline) {
  throw_if_lost();
  Server& server = at(index);
  // The server's deadline is earlier, as its error can name the reason.
  const auto later = net::Deadline::after(deadline.left() + net::seconds(5));
  const auto channel = take_channel(server, later);
  const auto give_back = [&] {
    const std::lock_guard lock(server.mutex);
    if (channel->usable()) server.idle.push_back(channel);
  };
  try {
    std::string answer = channel->call(method, body, later);
    give_back();
    return answer;
  } catch (const Error&) {
    give_back();
    throw;
  }
}

DISTRIBUTE_INLINE void ServerLanes::throw_if_lost() const {
  for (const auto& server : servers_) server->peer->throw_if_lost();
}

DISTRIBUTE_INLINE int ServerLanes::assign_lane(int server, int64_t bytes) {
  const Server& home = at(server);
  int best = home.first_lane;
  for (int lane = best; lane < home.first_lane + home.lanes; ++lane)
    if (lanes_[size_t(lane)].load < lanes_[size_t(best)].load) best = lane;
  lanes_[size_t(best)].load += bytes;
  return best;
}

DISTRIBUTE_INLINE void ServerLanes::drive(const std::vector<Answer>& answers,
                                          net::Deadline deadline) {
  ServerLink::drive(
      links_,
      [&] {
        return std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a->done; });
      },
      deadline);
}

DISTRIBUTE_INLINE std::string ServerLanes::finish(int lane, const Answer& answer) {
  drive({answer}, soon());
  if (answer->code != StatusCode::Ok)
    throw_error(answer->code,
                str_cat(lanes_[size_t(lane)].link->peer().name().name(), ": ", answer->error));
  return answer->answer;
}

DISTRIBUTE_INLINE void ServerLanes::advance() {
  for (ServerLink* link : links_) link->advance();
}

DISTRIBUTE_INLINE int64_t ServerLanes::bytes_moved() const {
  int64_t bytes = 0;
  for (const ServerLink* link : links_) bytes += link->bytes_moved();
  return bytes;
}

}  // namespace distribute::parameter_server
