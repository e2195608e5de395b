#pragma once
#include <distribute/base/copy_memory.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/parameter_server/detail/gradient_push.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/parameter_server/link_message.hpp>

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

DISTRIBUTE_INLINE void GradientPush::add_gradient(Part& part, UpdateHead& head,
                                                  const KnownVariable& variable,
                                                  const Tensor& gradient) {
  head.where = bf16_on_wire_ ? Where::Halved : Where::Inline;
  if (is_indexed_slices(gradient)) {
    const IndexedSlices slices = indexed_slices(gradient);
    head.rows = slices.indices.num_elements();
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
  if (!place) return add_floats(part, gradient);
  head.where = Where::Arena;
  head.offset = place->offset;
  part.places.push_back(std::move(place));
}

DISTRIBUTE_INLINE void GradientPush::add_update(Part& part, const Push& push, size_t index) {
  const PushedGradient& update = push.updates[index];
  const KnownVariable& variable = variables_.at(update.variable);
  variable.check("push", update.gradient);
  UpdateHead head{.index = uint32_t(index), .variable = variable.handle};
  for (const VariableId id : update.slots) {
    const KnownVariable& slot = variables_.at(id);
    if (slot.server != variable.server)
      throw InvalidArgumentError(str_cat("push: slot '", slot.spec.key, "' is on ps ", slot.server,
                                         ", its variable '", variable.spec.key, "' on ps ",
                                         variable.server));
    head.slots.push_back(slot.handle);
  }
  add_gradient(part, head, variable, update.gradient);
  part.updates.push_back(std::move(head));
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
    part.request.type = LinkRequest::Push;
    part.request.request = net::encode_message(
        PushRequest{.number = pushes_,
                    .commit = commit,
                    .synchronous = push.sync.has_value(),
                    .local_step = push.sync ? push.sync->local_step : push.local_step,
                    .max_staleness = lane == leader ? push.max_staleness : -1,
                    .counter = lane == leader ? variables_.at(push.counter).handle : -1,
                    .origin = push.origin,
                    .kernel = push.kernel,
                    .updates = std::move(part.updates)});
    answers[lane] = lanes_.request(lane, std::move(part.request));
  }
  return answers;
}

DISTRIBUTE_INLINE int64_t step_of(std::string_view answer) {
  return value_or_throw(net::parse_message<StepAnswer>(answer, "push")).step;
}

/// All servers have everything: from here on it takes a few bytes to each. The counter's server
/// decides first where the push may be dropped.
DISTRIBUTE_INLINE int64_t GradientPush::commit(const Push& push, const std::vector<int>& involved) {
  const int leader = push.counter >= 0 ? variables_.at(push.counter).lane : -1;
  const auto send = [&](int lane, LinkRequest type) {
    return lanes_.request(lane,
                          {.type = type, .request = net::encode_message(StagedRequest{pushes_})});
  };
  Answer decision;
  if (leader >= 0) decision = send(leader, LinkRequest::Commit);
  int64_t step = 0;
  const auto decide = [&] { step = step_of(lanes_.finish(leader, decision)); };
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
  const SyncCall request{.nanoseconds = deadline.left().count(),
                         .push = pushes_,
                         .counter = variables_.at(push.counter).handle,
                         .sync = *push.sync};
  lock.unlock();
  const std::string answer = lanes_.call(leader, "ps/sync", net::encode_message(request), deadline);
  lock.lock();
  const auto token = value_or_throw(net::parse_message<SyncRounds::Token>(answer, "ps/sync"));
  const std::string rounds = net::encode_message(token.rounds);
  std::vector<std::pair<int, Answer>> told;
  for (int server = 0; server < lanes_.num_servers(); ++server) {
    if (server == leader) continue;
    const int lane = lanes_.first_lane(server);
    told.emplace_back(lane, lanes_.request(lane, {.type = LinkRequest::Rounds, .request = rounds}));
  }
  for (const auto& [lane, told_answer] : told) lanes_.finish(lane, told_answer);
  return token.step;
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
    const std::string given = lanes_.finish(lane, answer);
    if (at_once) step = step_of(given);
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
