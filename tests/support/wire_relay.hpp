#pragma once
/// A man in the middle: relays TCP connections, records what passes, and may change it.

#include <distribute/base/status.hpp>
#include <distribute/net/socket.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

/// Listens on a port of its own and connects each client to `target`. Thread-safe.
class WireRelay {
 public:
  /// Gets the bytes that are about to go on, and may change them. From the relay's thread.
  using Change = std::function<void(bool to_target, std::string& bytes)>;

  explicit WireRelay(const distribute::net::Address& target, Change change = nullptr)
      : target_(target),
        change_(std::move(change)),
        listener_(
            distribute::value_or_throw(distribute::net::Listener::bind({"127.0.0.1", 0}, soon()))),
        thread_([this] { run(); }) {}
  ~WireRelay() {
    stopping_ = true;
    thread_.join();
  }
  WireRelay(const WireRelay&) = delete;

  const distribute::net::Address& address() const { return listener_.address(); }
  /// All bytes of all connections so far: those to the target, then those from it.
  std::string recorded(bool to_target) const {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const Pair& pair : pairs_) all += pair.seen[to_target];
    return all;
  }

 private:
  struct Pair {
    std::array<distribute::net::Socket, 2> ends;  // of the client, to the target
    std::array<std::string, 2> seen, waiting;     // [0] from the target, [1] to it
    std::array<bool, 2> ended{};                  // the reading of ends[i]
  };
  static distribute::net::Deadline soon() { return distribute::net::Deadline::after_seconds(10); }

  void run() {
    while (!stopping_) {
      std::vector<pollfd> polled = {{listener_.native(), POLLIN, 0}};
      for (const Pair& pair : pairs_)
        for (size_t i = 0; i < 2; ++i)
          polled.push_back(
              {pair.ended[i] && pair.waiting[1 - i].empty() ? -1 : pair.ends[i].native(),
               short((pair.ended[i] ? 0 : POLLIN) | (pair.waiting[1 - i].empty() ? 0 : POLLOUT)),
               0});
      ::poll(polled.data(), polled.size(), 20);
      accept();
      for (Pair& pair : pairs_)
        for (size_t i = 0; i < 2; ++i) move(pair, i);
    }
  }
  void accept() {
    auto guest = listener_.accept_now();
    if (!guest.ok() || !*guest) return;
    auto target = distribute::net::connect(target_, soon());
    if (!target.ok()) return;
    const std::lock_guard lock(mutex_);
    pairs_.emplace_back().ends = {*std::move(guest), *std::move(target)};
  }
  /// From ends[i] to the other.
  void move(Pair& pair, size_t i) {
    std::array<std::byte, 65536> buffer;
    const bool to_target = i == 0;
    std::string& waiting = pair.waiting[to_target];
    while (!pair.ended[i] && waiting.size() < 1 << 20) {
      const auto got = pair.ends[i].read_some(buffer);
      pair.ended[i] = !got.ok();
      if (!got.ok() || *got == 0) break;
      std::string bytes(reinterpret_cast<const char*>(buffer.data()), *got);
      {
        const std::lock_guard lock(mutex_);
        pair.seen[to_target] += bytes;
      }
      if (change_) change_(to_target, bytes);
      waiting += bytes;
    }
    while (!waiting.empty()) {
      const auto sent = pair.ends[1 - i].write_some(std::as_bytes(std::span(waiting)));
      if (!sent.ok()) waiting.clear();
      if (!sent.ok() || *sent == 0) return;
      waiting.erase(0, *sent);
    }
    if (pair.ended[i]) pair.ends[1 - i].end_writing();
  }

  const distribute::net::Address target_;
  const Change change_;
  distribute::net::Listener listener_;
  mutable std::mutex mutex_;  // guards pairs_' list and what was seen
  std::list<Pair> pairs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};
