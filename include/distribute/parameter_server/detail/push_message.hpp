#pragma once
/// What the client and the server of a push say to each other, written once for both.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/replica/detail/update_kernel.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// The optimizers that a connection knows at a time; a further one takes the place of the oldest.
inline constexpr uint32_t kMostOptimizers = 64;

/// Makes an optimizer known on this connection, before the first push that names it.
struct OptimizerMessage {
  uint32_t id = 0;        // in place of an earlier one with this number
  std::string optimizer;  // UpdateDescription::optimizer

  void fields(net::FieldVisitor& visit) {
    visit("id", id, kMostOptimizers - 1)("optimizer", optimizer);
  }
};

/// One variable's part of a push; its gradient follows the head, or lies in shared memory.
struct UpdateMessage {
  uint32_t index = 0;     // which update of the step it is
  uint32_t variable = 0;  // its number on the server, as those of the slots
  std::vector<uint32_t> slots = {};
  Where where = Where::Inline;         // the gradient's elements
  std::optional<int64_t> rows = {};    // of a sparse gradient; their numbers come first
  std::optional<int64_t> offset = {};  // in the client's arena

  void fields(net::FieldVisitor& visit) {
    visit("index", index)("variable", variable)("slots", slots, 8);
    visit("where", where, Where::Arena)("rows", rows)("offset", offset);
  }
};

/// What is behind a push's number: numbers alone, as the server knows the optimizer.
struct PushMessage {
  int64_t number = 0;        // of the client's pushes
  bool commit_now = false;   // without waiting for LinkRequest::Commit
  bool synchronous = false;  // waits for those of other workers
  int64_t local_step = 0;
  int64_t max_staleness = -1;  // -1: any
  int64_t counter = -1;        // the variable that counts steps; -1: not here
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
