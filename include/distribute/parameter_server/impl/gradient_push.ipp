#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/status.hpp>
#include <distribute/parameter_server/detail/gradient_push.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE GradientPush::GradientPush(ServerLanes& lanes, KnownVariables& variables,
                                             LateWaits& waits, bool bf16_on_wire)
    : lanes_(lanes),
      variables_(variables),
      waits_(waits),
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
  ServerLink::Request flush{.type = LinkRequest::Flush, .keep = std::move(places)};
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

/// Returns memory of the gradient that the server can read; the gradient is copied there once
/// unless it is there already.
DISTRIBUTE_INLINE std::shared_ptr<GradientPlace> GradientPush::place_of(
    const KnownVariable& variable, const Tensor& gradient) {
  GradientMemory& memory = lanes_.gradients(variable.server);
  auto place = memory.place_of(gradient);
  if (place || variable.bytes() < 4096 || !(place = memory.take(variable.bytes()))) return place;
  std::byte* to = place->arena->at(place->offset);
  if (gradient.layout())
    gradient.layout()->to_row_major(gradient.array().bytes(), to);
  else
    copy_memory(to, gradient.array().bytes(), size_t(variable.bytes()));
  return place;
}

DISTRIBUTE_INLINE void GradientPush::add_gradient(Part& part, UpdateMessage& update,
                                                  const KnownVariable& variable,
                                                  const Tensor& gradient) {
  update.where = bf16_on_wire_ ? Where::Halved : Where::Inline;
  if (is_indexed_slices(gradient)) {
    const IndexedSlices slices = indexed_slices(gradient);
    update.rows = slices.indices.num_elements();
    part.request.bytes.push_back(std::as_bytes(slices.indices.data<int64_t>()));
    part.request.keep.push_back(std::make_shared<Tensor>(slices.indices));
    return add_floats(part, slices.values);
  }
  auto place = place_of(variable, gradient);
  if (!place) return add_floats(part, gradient);
  update.where = Where::Arena;
  update.offset = place->offset;
  part.places.push_back(std::move(place));
}

DISTRIBUTE_INLINE void GradientPush::add_update(Part& part, const Push& push, size_t index) {
  const PushedGradient& update = push.updates[index];
  const KnownVariable& variable = variables_.at(update.variable);
  variable.check("push", update.gradient);
  UpdateMessage& message = part.updates.emplace_back(
      UpdateMessage{.index = uint32_t(index), .variable = uint32_t(variable.handle)});
  for (const VariableId id : update.slots) {
    const KnownVariable& slot = variables_.at(id);
    if (slot.server != variable.server)
      throw InvalidArgumentError(str_cat("push: slot '", slot.spec.key, "' is on ps ", slot.server,
                                         ", its variable '", variable.spec.key, "' on ps ",
                                         variable.server));
    message.slots.push_back(uint32_t(slot.handle));
  }
  add_gradient(part, message, variable, update.gradient);
}

/// Registers the optimizer with the lane's server if that does not know it, and waits meanwhile.
DISTRIBUTE_INLINE uint32_t GradientPush::optimizer_id(int lane, const std::string& optimizer) {
  Flow& flow = flows_[size_t(lane)];
  const auto known = std::find(flow.optimizers.begin(), flow.optimizers.end(), optimizer);
  if (known != flow.optimizers.end()) return uint32_t(known - flow.optimizers.begin());
  const uint32_t id = flow.registered % kMostOptimizers;
  const std::string request = net::encode_message(OptimizerMessage{id, optimizer});
  lanes_.finish(lane, lanes_.request(lane, {.type = LinkRequest::Optimizer, .request = request}));
  ++flow.registered;
  flow.optimizers.resize(std::max(flow.optimizers.size(), size_t(id) + 1));
  flow.optimizers[id] = optimizer;
  return id;
}

/// If the server does not know the optimizer, the next push registers it again.
DISTRIBUTE_INLINE std::string GradientPush::finish_staging(int lane, const Answer& answer) {
  try {
    return lanes_.finish(lane, answer);
  } catch (const FailedPreconditionError&) {
    Flow& flow = flows_[size_t(lane)];
    flow.optimizers.clear();
    flow.registered = 0;
    throw;
  }
}

/// Splits a push into one part per lane.
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
  PushMessage message{.number = pushes_,
                      .commit_now = commit,
                      .synchronous = push.sync.has_value(),
                      .local_step = push.sync ? push.sync->local_step : push.local_step,
                      .origin = push.origin,
                      .step = push.kernel.step};
  for (auto& [lane, part] : parts) {
    message.max_staleness = lane == leader ? push.max_staleness : -1;
    message.counter = lane == leader ? variables_.at(push.counter).handle : -1;
    message.optimizer = part.optimizer;
    message.updates = std::move(part.updates);
    part.request.request = net::encode_message(message);
    part.request.type = LinkRequest::Push;
    answers[lane] = lanes_.request(lane, std::move(part.request));
  }
  return answers;
}

DISTRIBUTE_INLINE int64_t step_of(std::string_view answer) {
  return value_or_throw(net::parse_message<StepAnswer>(answer, "push")).step;
}

/// Commits a push that all servers have staged, with a few bytes to each. The counter's server
/// decides first if the push may be dropped.
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

/// Calls ps/sync; where that takes long, the server says whose gradients are missing.
DISTRIBUTE_INLINE std::string GradientPush::wait_for_token(int server, const std::string& request,
                                                           net::Deadline deadline) {
  const LateWaits::Wait wait(waits_, lanes_.task()->options().operation_timeout, [this, server] {
    constexpr double kSeconds = 5;
    const std::string bytes =
        lanes_.call(server, "ps/gathered", "", net::Deadline::after_seconds(kSeconds));
    const auto there = value_or_throw(net::parse_message<std::string>(bytes, "ps/gathered"));
    return there.empty() ? there : str_cat("other workers: ", there);
  });
  return lanes_.call(server, "ps/sync", request, deadline);
}

/// Waits for the token without the lock, and passes its list of steps on to the other servers.
DISTRIBUTE_INLINE int64_t GradientPush::synchronize(const Push& push,
                                                    std::unique_lock<std::recursive_mutex>& lock) {
  const auto deadline = lanes_.soon();
  const int leader = variables_.at(push.counter).server;
  const SyncCall request{.nanoseconds = deadline.left().count(),
                         .push = pushes_,
                         .counter = variables_.at(push.counter).handle,
                         .sync = *push.sync};
  lock.unlock();
  const std::string bytes = wait_for_token(leader, net::encode_message(request), deadline);
  lock.lock();
  const auto token = value_or_throw(net::parse_message<SyncRounds::Token>(bytes, "ps/sync"));
  const std::string rounds = net::encode_message(token.rounds);
  std::vector<std::pair<int, Answer>> told;
  for (int server = 0; server < lanes_.num_servers(); ++server) {
    if (server == leader) continue;
    const int lane = lanes_.first_lane(server);
    told.emplace_back(lane, lanes_.request(lane, {.type = LinkRequest::Rounds, .request = rounds}));
  }
  for (const auto& [lane, answer] : told) lanes_.finish(lane, answer);
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
  for (auto& [lane, part] : parts) part.optimizer = optimizer_id(lane, push.kernel.optimizer);
  ++pushes_;
  const bool at_once = involved.size() == 1 && !push.sync;
  int64_t step = 0;
  for (const auto& [lane, answer] : stage(push, std::move(parts), at_once)) {
    const std::string given = finish_staging(lane, answer);
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
