#pragma once
#include <distribute/cluster/detail/control_link.hpp>

#include <poll.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void ControlLink::send(const ControlMessage& message) {
  unsent_ += message.encode();
  flush();
}

DISTRIBUTE_INLINE void ControlLink::flush() {
  while (!unsent_.empty()) {
    const auto sent = socket_.write_some(std::as_bytes(std::span(unsent_)));
    if (!sent.ok()) unsent_.clear();  // the reading side will say so
    if (!sent.ok() || *sent == 0) return;
    unsent_.erase(0, *sent);
  }
}

DISTRIBUTE_INLINE absl::Status ControlLink::receive(std::vector<ControlMessage>& messages) {
  // ::poll does not report bytes that are decrypted already.
  while (messages.size() < 64 || socket_.has_buffered()) {
    const auto got = socket_.read_some(reader_.space());
    if (!got.ok()) return got.status();
    if (*got == 0 && !reader_.complete()) return absl::OkStatus();
    heard_ = Clock::now();
    if (const absl::Status status = reader_.filled(*got); !status.ok()) return status;
    if (!reader_.complete()) continue;
    auto message = parse_control_message(reader_.take());
    if (!message.ok()) return message.status();
    messages.push_back(*std::move(message));
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE short ControlLink::events() const {
  return short(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

}  // namespace distribute::cluster_internal
