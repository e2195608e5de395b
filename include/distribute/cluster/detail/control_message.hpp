#pragma once
/// Messages between a task and its leader on their control connection.

#include <distribute/base/config.hpp>
#include <distribute/net/frame.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// In a large job a member asks for the groups of its tasks by code 1 in a Heartbeat: they are the
/// value of the Echo, and of every Failed. A Gather of code 1 asks only whether all values are
/// equal.
enum class ControlType : uint16_t {
  Join = 16,  // member: name = its address, value = its host
  Waiting,    // leader: name = the missing tasks
  Start,      // leader: value = JoinedMembers
  Heartbeat,  // member: times[0] = its clock, value = its progress, code
  Echo,       // leader: times = the heartbeat's, of its arrival, of this message; value = progress
  Set,        // member: name, value
  Get,        // member: name, times[0] = nanoseconds that it waits
  Gather,     // member: name, value, times[0] = nanoseconds that it waits, code
  Reply,      // leader: code, name = error message, value
  Failed,     // leader: rank, code, name = what happened (member: the leader is lost; with a code:
              // it waits for this rank, which has left, in name)
  Error,      // member: code, name = what happened
  Leave,      // member: this task has finished
  Left,       // leader: rank has finished
  Released,   // leader: all others have finished, too
  Late,       // member: it has waited for long in a collective
  Ask,        // leader: asks which tasks this one does not reach
  Unreached,  // member: value = UnreachedRanks, the answer
};

/// One struct for all types; fields that a type does not use are empty.
struct ControlMessage {
  ControlType type{};
  uint64_t request = 0;  // distinguishes a member's requests; the reply has the same number
  int32_t rank = -1;
  int32_t code = 0;  // a StatusCode, or what the type says
  std::array<int64_t, 3> times{};
  std::string name = {};
  std::string value = {};

  /// Visits all fields but the type, which is the frame's.
  void fields(net::FieldVisitor& visit) {
    visit("request", request)("rank", rank)("code", code)("times", times)("name", name);
    visit("value", value);
  }
  /// Returns the bytes on the wire, with the frame's header.
  std::string encode() const { return net::encode_frame_of(uint16_t(type), *this); }
};

/// Errors  InvalidArgument.
absl::StatusOr<ControlMessage> parse_control_message(const net::Frame& frame);

/// Description of a task that joins.
struct JoinedMember {
  std::string address;
  uint64_t incarnation = 0;
  std::string host;  // equal for tasks that may share memory

  void fields(net::FieldVisitor& visit) {
    visit("address", address)("incarnation", incarnation)("host", host);
  }
};
using JoinedMembers = std::vector<JoinedMember>;   // the value of a Start
using UnreachedRanks = std::vector<int32_t>;       // the value of an Unreached
inline constexpr const char* kAllEqual = "equal";  // the value of a Reply to a Gather of code 1
using GatheredTexts = std::vector<std::string>;    // the value of a Gather's Reply

}  // namespace distribute::cluster_internal
