#pragma once
/// Arguments of a push of gradients.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/replica/detail/update_kernel.hpp>
#include <distribute/tensor/tensor.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace distribute::parameter_server {

/// Identifies a variable in one client.
using VariableId = int64_t;

/// The part of a push for one variable.
struct PushedGradient {
  VariableId variable = -1;
  std::vector<VariableId> slots = {};  // on the same server as the variable
  Tensor gradient = {};                // dense or IndexedSlices
};

/// Identifies an update of a coordinator's function: it is the same when the function runs again,
/// so that servers can skip what they have applied.
struct UpdateOrigin {
  uint64_t session = 0;   // of the coordinator
  uint64_t function = 0;  // number among the session's functions, from 1; 0: no function
  uint64_t number = 0;    // number among the function's updates
  /// Functions of the session below this number have ended, with their updates. It is not part of
  /// the identity of an update.
  uint64_t settled = 0;

  auto operator<=>(const UpdateOrigin& other) const {
    return std::tie(session, function, number) <=>
           std::tie(other.session, other.function, other.number);
  }
  bool operator==(const UpdateOrigin& other) const { return (*this <=> other) == 0; }

  void fields(net::FieldVisitor& visit) {
    visit("session", session)("function", function)("number", number)("settled", settled);
  }
};

struct Push {
  UpdateDescription kernel;  // update i is the kernel's update i
  std::vector<PushedGradient> updates = {};
  VariableId counter = -1;               // an int64 scalar that counts pushes; -1: none
  std::optional<SyncOptions> sync = {};  // needs a counter
  /// Age of the weights, in steps, above which a gradient is dropped; -1: no limit. It needs the
  /// counter, and its value when the weights were pulled.
  int64_t max_staleness = -1;
  int64_t local_step = 0;
  UpdateOrigin origin = {};
};

}  // namespace distribute::parameter_server
