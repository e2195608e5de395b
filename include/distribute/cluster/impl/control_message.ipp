#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/control_message.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE absl::StatusOr<ControlMessage> parse_control_message(const net::Frame& frame) {
  const auto type = ControlType(frame.type);
  if (type < ControlType::Join || type > ControlType::Unreached)
    return absl::InvalidArgumentError(
        str_cat("a control connection has no message of type ", frame.type));
  auto message = net::parse_message<ControlMessage>(frame.payload, "control message");
  if (message.ok()) message->type = type;
  return message;
}

}  // namespace distribute::cluster_internal
