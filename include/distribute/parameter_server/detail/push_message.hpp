#pragma once
/// Messages of a push, for client and server.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/replica/detail/update_kernel.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Number of optimizers that a connection knows at a time; a further one replaces the oldest.
inline constexpr uint32_t kMostOptimizers = 64;

/// Makes an optimizer known on this connection, before the first push that names it.
struct OptimizerMessage {
  uint32_t id = 0;        // replaces an earlier one with this number
  std::string optimizer;  // UpdateDescription::optimizer

  void fields(net::FieldVisitor& visit) {
    visit("id", id, kMostOptimizers - 1)("optimizer", optimizer);
  }
};

/// The part of a push for one variable; its gradient follows the head, or lies in shared memory.
struct UpdateMessage {
  uint32_t index = 0;     // number among the updates of the step
  uint32_t variable = 0;  // its number on the server, as for the slots
  std::vector<uint32_t> slots = {};
  Where where = Where::Inline;         // the gradient's elements
  std::optional<int64_t> rows = {};    // of a sparse gradient, whose row numbers come first
  std::optional<int64_t> offset = {};  // in the client's arena

  void fields(net::FieldVisitor& visit) {
    visit("index", index)("variable", variable)("slots", slots, 8);
    visit("where", where, Where::Arena)("rows", rows)("offset", offset);
  }
};

/// Head of a push; it contains only numbers, as the server knows the optimizer.
struct PushMessage {
  int64_t number = 0;        // number among the client's pushes
  bool commit_now = false;   // without waiting for LinkRequest::Commit
  bool synchronous = false;  // waits for the pushes of other workers
  int64_t local_step = 0;
  int64_t max_staleness = -1;  // -1: no limit
  int64_t counter = -1;        // variable that counts steps; -1: not on this server
  UpdateOrigin origin = {};
  uint32_t optimizer = 0;  // OptimizerMessage::id
  StepNumbers step = {};
  std::vector<UpdateMessage> updates = {};

  void fields(net::FieldVisitor& visit) {
    visit("number", number)("commit_now", commit_now)("synchronous", synchronous);
    visit("local_step", local_step)("max_staleness", max_staleness)("counter", counter);
    visit("origin", origin)("optimizer", optimizer)("rate", step.rate)("done", step.done);
    visit("decayed", step.decayed)("factors", step.factors)("ratios", step.ratios);
    visit("updates", updates);
  }
};

}  // namespace distribute::parameter_server
