#pragma once
#include <distribute/cluster/detail/control_link.hpp>

#include <algorithm>
#include <array>

#include <poll.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void ControlLink::send(Frame frame) {
  unsent_.push_back(std::move(frame));
  flush();
}

DISTRIBUTE_INLINE void ControlLink::flush() {
  while (!unsent_.empty()) {
    const auto rest = std::as_bytes(std::span(*unsent_.front())).subspan(done_);
    const auto sent = socket_.write_some(rest);
    done_ += sent.ok() ? *sent : 0;
    const bool whole = sent.ok() && *sent == rest.size();
    if (sent.ok() && !whole) return;
    if (whole)
      unsent_.erase(unsent_.begin());
    else
      unsent_.clear();  // the reading side will say so
    done_ = 0;
  }
}

DISTRIBUTE_INLINE absl::Status ControlLink::receive(std::vector<ControlMessage>& messages) {
  std::array<std::byte, 16384> bytes;
  // ::poll does not report bytes that are decrypted already.
  while (messages.size() < 64 || socket_.has_buffered()) {
    const auto got = socket_.read_some(bytes);
    if (!got.ok()) return got.status();
    if (*got == 0) return absl::OkStatus();
    heard_ = Clock::now();
    const absl::Status status = take(std::span(bytes).first(*got), messages);
    if (!status.ok() || (*got < bytes.size() && !socket_.has_buffered())) return status;
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status ControlLink::take(std::span<const std::byte> bytes,
                                                 std::vector<ControlMessage>& messages) {
  while (!bytes.empty()) {
    const std::span<std::byte> space = reader_.space();
    const size_t part = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), part, space.begin());
    bytes = bytes.subspan(part);
    if (const absl::Status status = reader_.filled(part); !status.ok()) return status;
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
