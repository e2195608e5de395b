#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/detail/gradient_push.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>

#include <string_view>
#include <utility>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE GradientPush::GradientPush(ServerLanes& lanes, KnownVariables& variables,
                                             bool bf16_on_wire)
    : lanes_(lanes),
      variables_(variables),
      bf16_on_wire_(bf16_on_wire),
      flows_(size_t(lanes.num_lanes())) {}

DISTRIBUTE_INLINE void GradientPush::wait_for_room(int lane) {
  Flow& flow = flows_[size_t(lane)];
  const auto done = [](const Answer& answer) { return answer->done; };
  while (!flow.under_way.empty() && done(flow.under_way.front())) flow.under_way.pop_front();
  while (flow.under_way.size() >= 2) {
    lanes_.drive({flow.under_way.front()}, lanes_.soon());
    flow.under_way.pop_front();
  }
  for (const Answer& answer : flow.background)
    if (answer->done) lanes_.finish(lane, answer);
  std::erase_if(flow.background, done);
}

DISTRIBUTE_INLINE void GradientPush::begin_flush(int lane, Places places) {
  ServerLink::Request flush{.type = LinkRequest::Flush};
  flush.finish = [places = std::move(places)] {};
  flows_[size_t(lane)].under_way.push_back(lanes_.request(lane, std::move(flush)));
}

DISTRIBUTE_INLINE void GradientPush::add_floats(Part& part, const Tensor& values) {
  const Tensor plain = values.row_major();
  const int64_t count = plain.num_elements();
  const auto* floats = plain.data<float>().data();
  if (!bf16_on_wire_) {
    part.request.bytes.push_back(std::as_bytes(std::span(floats, size_t(count))));
    part.request.keep.push_back(std::make_shared<Tensor>(plain));
    return;
  }
  const auto half = std::make_shared<std::vector<uint16_t>>(size_t(count));
  narrow(floats, half->data(), count);
  part.request.bytes.push_back(std::as_bytes(std::span(*half)));
  part.request.keep.push_back(half);
}

DISTRIBUTE_INLINE void GradientPush::add_gradient(Part& part, const KnownVariable& variable,
                                                  const Tensor& gradient) {
  const Where inline_where = bf16_on_wire_ ? Where::Halved : Where::Inline;
  if (is_indexed_slices(gradient)) {
    const IndexedSlices slices = indexed_slices(gradient);
    part.updates.number(uint8_t(inline_where)).number(slices.indices.num_elements());
    part.request.bytes.push_back(std::as_bytes(slices.indices.data<int64_t>()));
    part.request.keep.push_back(std::make_shared<Tensor>(slices.indices));
    return add_floats(part, slices.values);
  }
  GradientMemory& memory = lanes_.gradients(variable.server);
  auto place = memory.place_of(gradient);
  if (!place && variable.bytes() >= 4096 && (place = memory.take(variable.bytes()))) {
    std::byte* to = place->arena->at(place->offset);
    if (gradient.layout())
      gradient.layout()->to_row_major(gradient.array().bytes(), to);
    else
      copy_memory(to, gradient.array().bytes(), size_t(variable.bytes()));
  }
  part.updates.number(uint8_t(place ? Where::Arena : inline_where)).number(int64_t{-1});
  if (!place) return add_floats(part, gradient);
  part.updates.number(place->offset);
  part.places.push_back(std::move(place));
}

DISTRIBUTE_INLINE void GradientPush::add_update(Part& part, const Push& push, size_t index) {
  const PushedGradient& update = push.updates[index];
  const KnownVariable& variable = variables_.at(update.variable);
  variable.check("push", update.gradient);
  part.updates.number(uint32_t(index)).number(variable.handle).number(uint8_t(update.slots.size()));
  for (const VariableId id : update.slots) {
    const KnownVariable& slot = variables_.at(id);
    if (slot.server != variable.server)
      throw InvalidArgumentError(str_cat("push: slot '", slot.spec.key, "' is on ps ", slot.server,
                                         ", its variable '", variable.spec.key, "' on ps ",
                                         variable.server));
    part.updates.number(slot.handle);
  }
  ++part.count;
  add_gradient(part, variable, update.gradient);
}

/// By lane.
DISTRIBUTE_INLINE std::map<int, GradientPush::Part> GradientPush::divide(const Push& push) {
  std::map<int, Part> parts;
  for (size_t u = 0; u < push.updates.size(); ++u)
    add_update(parts[variables_.at(push.updates[u].variable).lane], push, u);
  if (push.counter >= 0) parts[variables_.at(push.counter).lane];
  return parts;
}

DISTRIBUTE_INLINE std::map<int, GradientPush::Answer> GradientPush::stage(const Push& push,
                                                                          std::map<int, Part> parts,
                                                                          bool commit) {
  const int leader = push.counter >= 0 ? variables_.at(push.counter).lane : -1;
  std::map<int, Answer> answers;
  for (auto& [lane, part] : parts) {
    net::ByteWriter& head = part.request.head;
    head.number(pushes_).number(uint8_t(commit)).number(uint8_t(push.sync.has_value()));
    head.number(push.sync ? push.sync->local_step : push.local_step);
    head.number(lane == leader ? push.max_staleness : -1);
    head.number(lane == leader ? variables_.at(push.counter).handle : -1);
    write_origin(head, push.origin);
    head.text(push.kernel).number(part.count).raw(part.updates.bytes());
    part.request.type = LinkRequest::Push;
    answers[lane] = lanes_.request(lane, std::move(part.request));
  }
  return answers;
}

/// All servers have everything: from here on it takes a few bytes to each. The counter's server
/// decides first where the push may be dropped.
DISTRIBUTE_INLINE int64_t GradientPush::commit(const Push& push, const std::vector<int>& involved) {
  const int leader = push.counter >= 0 ? variables_.at(push.counter).lane : -1;
  const auto send = [&](int lane, LinkRequest type) {
    ServerLink::Request request{.type = type};
    request.head.number(pushes_);
    return lanes_.request(lane, std::move(request));
  };
  Answer decision;
  if (leader >= 0) decision = send(leader, LinkRequest::Commit);
  int64_t step = 0;
  const auto decide = [&] {
    const std::string head = lanes_.finish(leader, decision);
    step = net::ByteReader(head).number<int64_t>();
  };
  if (push.max_staleness >= 0) decide();
  for (const int lane : involved)
    if (lane != leader)
      flows_[size_t(lane)].background.push_back(
          send(lane, step < 0 ? LinkRequest::Drop : LinkRequest::Commit));
  if (leader >= 0 && push.max_staleness < 0) decide();
  return step;
}

/// Waits for the token without the lock, and tells the other servers what it says about steps.
DISTRIBUTE_INLINE int64_t GradientPush::synchronize(const Push& push,
                                                    std::unique_lock<std::recursive_mutex>& lock) {
  const auto deadline = lanes_.soon();
  const int leader = variables_.at(push.counter).server;
  net::ByteWriter request;
  request.number(deadline.left().count())
      .number(pushes_)
      .number(variables_.at(push.counter).handle);
  request.number(int32_t(push.sync->replicas_to_aggregate));
  request.number(int32_t(push.sync->total_num_replicas));
  request.number(int32_t(push.sync->num_init_tokens)).number(push.sync->local_step);
  lock.unlock();
  const std::string token = lanes_.call(leader, "ps/sync", request.bytes(), deadline);
  lock.lock();
  net::ByteReader reader(token);
  const auto step = reader.number<int64_t>();
  std::vector<std::pair<int, Answer>> told;
  for (int server = 0; server < lanes_.num_servers(); ++server) {
    if (server == leader) continue;
    ServerLink::Request rounds{.type = LinkRequest::Rounds};
    rounds.head.raw(std::string_view(token).substr(sizeof(int64_t)));
    const int lane = lanes_.first_lane(server);
    told.emplace_back(lane, lanes_.request(lane, std::move(rounds)));
  }
  for (const auto& [lane, answer] : told) lanes_.finish(lane, answer);
  return step;
}

DISTRIBUTE_INLINE int64_t GradientPush::push(const Push& push,
                                             std::unique_lock<std::recursive_mutex>& lock) {
  if ((push.sync || push.max_staleness >= 0) && push.counter < 0)
    throw InvalidArgumentError("push: synchronous pushes and max_staleness need a counter");
  auto parts = divide(push);
  std::vector<int> involved;
  std::map<int, Places> places;
  for (auto& [lane, part] : parts) {
    involved.push_back(lane);
    places[lane] = std::move(part.places);
  }
  for (const int lane : involved) wait_for_room(lane);
  ++pushes_;
  const bool at_once = involved.size() == 1 && !push.sync;
  const auto answers = stage(push, std::move(parts), at_once);
  int64_t step = 0;
  for (const auto& [lane, answer] : answers) {
    const std::string head = lanes_.finish(lane, answer);
    if (at_once) step = net::ByteReader(head).number<int64_t>();
  }
  if (push.sync) return synchronize(push, lock);
  if (!at_once) step = commit(push, involved);
  for (const int lane : involved) begin_flush(lane, std::move(places[lane]));
  lanes_.advance();
  return step;
}

DISTRIBUTE_INLINE void GradientPush::flush() {
  std::vector<Answer> all;
  for (int lane = 0; lane < lanes_.num_lanes(); ++lane)
    all.push_back(lanes_.request(lane, {.type = LinkRequest::Flush}));
  lanes_.drive(all, lanes_.soon());
  for (int lane = 0; lane < lanes_.num_lanes(); ++lane) {
    Flow& flow = flows_[size_t(lane)];
    flow.under_way.clear();
    for (const auto& answer : std::exchange(flow.background, {})) lanes_.finish(lane, answer);
  }
}

}  // namespace distribute::parameter_server
