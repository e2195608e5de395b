#pragma once
/// Gradients on their way to the servers.

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

/// Stands for a variable in one client.
using VariableId = int64_t;

/// What one variable of a push gets.
struct PushedGradient {
  VariableId variable = -1;
  std::vector<VariableId> slots = {};  // on the variable's server
  Tensor gradient = {};                // dense or IndexedSlices
};

/// Which coordinator's function an update is from, and which of the function's updates it is: the
/// same when the function runs again, so that servers can leave out what they have applied.
struct UpdateOrigin {
  uint64_t session = 0;   // of the coordinator
  uint64_t function = 0;  // counts the session's functions from 1; 0: of no function
  uint64_t number = 0;    // counts the function's updates
  /// All functions of the session below this one have ended, with their updates. No part of what
  /// tells two updates apart.
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
  /// Age of the weights, in steps, above which a gradient is dropped; -1: none is. Needs the
  /// counter, and its value when the weights were pulled.
  int64_t max_staleness = -1;
  int64_t local_step = 0;
  UpdateOrigin origin = {};
};

}  // namespace distribute::parameter_server
