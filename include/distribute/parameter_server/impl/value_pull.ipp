#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/value_pull.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace distribute::parameter_server {

/// Returns a tensor in the server's memory, which is released when all copies are destroyed.
DISTRIBUTE_INLINE Tensor wrap_shared(const ServerLanes& lanes, const KnownVariable& variable,
                                     int64_t offset) {
  const auto& arena = lanes.arena(variable.server);
  if (!arena || offset < 0 || offset > arena->bytes() - variable.bytes())
    throw InternalError(str_cat("ps ", variable.server, ": variable '", variable.spec.key,
                                "' lies outside of the shared memory"));
  const auto buffer = std::make_shared<Buffer>(
      arena->at(offset), variable.bytes(), Device{},
      [arena, released = lanes.released(variable.lane), handle = variable.handle, offset] {
        released->add(handle, offset);
      });
  return Tensor(variable.spec.shape, variable.spec.dtype, Array{buffer, 0, nullptr});
}

/// The received part of a pull from one lane, in the order of the request.
struct Arrivals {
  struct Value {
    KnownVariable* variable = nullptr;
    Tensor value = {};  // none: unchanged
    uint64_t version = 0;
    std::vector<uint16_t> half = {};
  };
  std::vector<Value> values;

  LinkAnswer::Bytes places(const ServerLanes& lanes, std::string_view answer);
  void keep();
};

DISTRIBUTE_INLINE LinkAnswer::Bytes Arrivals::places(const ServerLanes& lanes,
                                                     std::string_view answer) {
  const auto heads = value_or_throw(net::parse_message<std::vector<PulledValue>>(answer, "pull"));
  if (heads.size() != values.size())
    throw InternalError(str_cat("pull: ", heads.size(), " values have come, not ", values.size()));
  LinkAnswer::Bytes places;
  for (size_t i = 0; i < values.size(); ++i) {
    const PulledValue& head = heads[i];
    Value& arrival = values[i];
    const KnownVariable& variable = *arrival.variable;
    if (head.where == Where::Unchanged) continue;
    arrival.version = head.version;
    if (head.where == Where::Arena) {
      arrival.value = wrap_shared(lanes, variable, head.offset);
      continue;
    }
    arrival.value = Tensor::empty(variable.spec.shape, variable.spec.dtype, Device{});
    if (head.where == Where::Halved) {
      arrival.half.resize(size_t(arrival.value.num_elements()));
      places.push_back(std::as_writable_bytes(std::span(arrival.half)));
    } else {
      places.emplace_back(reinterpret_cast<std::byte*>(arrival.value.array().bytes()),
                          size_t(variable.bytes()));
    }
  }
  return places;
}

DISTRIBUTE_INLINE void Arrivals::keep() {
  for (Value& arrival : values) {
    if (!arrival.value) continue;
    if (!arrival.half.empty())
      widen(arrival.half.data(), arrival.value.mutable_data<float>(), arrival.value.num_elements());
    arrival.variable->value = arrival.value;
    arrival.variable->version = arrival.version;
  }
}

DISTRIBUTE_INLINE ServerLanes::Answer pull_from(ServerLanes& lanes, int lane, bool bf16_on_wire,
                                                const std::vector<KnownVariable*>& variables) {
  ServerLink::Request request{.type = LinkRequest::Pull};
  PullRequest pull{.halve = bf16_on_wire};
  const auto arrivals = std::make_shared<Arrivals>();
  for (KnownVariable* variable : variables) {
    pull.variables.push_back({variable->handle, variable->value ? variable->version : 0});
    arrivals->values.push_back({variable});
  }
  request.request = net::encode_message(pull);
  request.place = [&lanes, arrivals](std::string_view answer) {
    return arrivals->places(lanes, answer);
  };
  request.finish = [arrivals] { arrivals->keep(); };
  return lanes.request(lane, std::move(request));
}

DISTRIBUTE_INLINE ValuePull::ValuePull(ServerLanes& lanes, KnownVariables& variables,
                                       bool bf16_on_wire, std::span<const VariableId> ids)
    : lanes_(lanes), ids_(ids.begin(), ids.end()) {
  std::map<int, std::vector<KnownVariable*>> by_lane;
  std::set<VariableId> seen;
  for (const VariableId id : ids) {
    KnownVariable& variable = variables.at(id);
    if (seen.insert(id).second) by_lane[variable.lane].push_back(&variable);
  }
  for (const auto& [lane, list] : by_lane)
    answers_.push_back(pull_from(lanes, lane, bf16_on_wire, list));
}

DISTRIBUTE_INLINE bool ValuePull::covers(std::span<const VariableId> ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](VariableId id) {
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
  });
}

DISTRIBUTE_INLINE void ValuePull::finish() {
  lanes_.drive(answers_, lanes_.soon());
  for (const auto& answer : answers_)
    if (answer->code != StatusCode::Ok) throw_error(answer->code, "pull: " + answer->error);
}

}  // namespace distribute::parameter_server
