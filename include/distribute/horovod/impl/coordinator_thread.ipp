#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/horovod/detail/coordinator_thread.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <poll.h>

namespace distribute::horovod_internal {

struct CoordinatorThread::Impl {
  /// One rank's connection.
  struct Rank {
    net::Socket socket;
    net::FrameReader reader{kMostMessageBytes};
    std::string unsent = {};
    bool open = true;
    // leaving: it has announced its end; dismissed: it was answered
    bool leaving = false, dismissed = false;
  };

  Impl(std::vector<net::Socket> sockets, NegotiationOptions options,
       std::function<void(const std::string&)> to_log)
      : log(std::move(to_log)), negotiation(int(sockets.size()), std::move(options)) {
    for (net::Socket& socket : sockets) ranks.push_back({std::move(socket)});
  }

  void run();
  void wait() const;
  void read(int rank);
  void handle(int rank, const net::Frame& frame);
  void dismiss(int rank, const char* why);
  void answer();
  void send(Rank& rank);

  const std::function<void(const std::string&)> log;
  Negotiation negotiation;  // used by this thread alone, as are the ranks
  std::vector<Rank> ranks;
  net::WakeUp wake_up;
  std::atomic<bool> stopping{false};
  std::mutex mutex;  // guards all_left
  std::condition_variable changed;
  bool all_left = false;
  std::thread thread;
};

DISTRIBUTE_INLINE CoordinatorThread::CoordinatorThread(std::vector<net::Socket> ranks,
                                                       NegotiationOptions options,
                                                       std::function<void(const std::string&)> log)
    : impl_(std::make_unique<Impl>(std::move(ranks), std::move(options), std::move(log))) {
  impl_->thread =
      base_internal::start_thread("what the ranks agree on", [impl = impl_.get()] { impl->run(); });
}

DISTRIBUTE_INLINE CoordinatorThread::~CoordinatorThread() { stop(); }

DISTRIBUTE_INLINE void CoordinatorThread::stop() {
  impl_->stopping = true;
  impl_->wake_up.signal();
  if (impl_->thread.joinable()) impl_->thread.join();
}

DISTRIBUTE_INLINE void CoordinatorThread::wait_until_all_have_left(double seconds) {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait_for(lock, net::seconds(seconds), [&] { return impl_->all_left; });
}

DISTRIBUTE_INLINE void CoordinatorThread::Impl::run() {
  while (!stopping) {
    wait();
    wake_up.clear();
    for (int rank = 0; rank < int(ranks.size()); ++rank) read(rank);
    for (const std::string& text : negotiation.stalls(net::Deadline::Clock::now()))
      log("warning: " + text);
    answer();
    for (Rank& rank : ranks) send(rank);
    const std::lock_guard lock(mutex);
    all_left = std::none_of(ranks.begin(), ranks.end(), [](const Rank& rank) { return rank.open; });
    if (all_left) changed.notify_all();
  }
}

/// Waits until a rank sends something, can take more bytes, or an operation stalls.
DISTRIBUTE_INLINE void CoordinatorThread::Impl::wait() const {
  std::vector<pollfd> polled{{wake_up.native(), POLLIN, 0}};
  for (const Rank& rank : ranks)
    if (rank.open)
      polled.push_back(
          {rank.socket.native(), short(rank.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  int64_t ms = 3'600'000;
  if (const auto next = negotiation.next_stall(); next != Negotiation::Time::max()) {
    const auto left = next - net::Deadline::Clock::now();
    ms = std::clamp<int64_t>(left.count() / 1'000'000 + 1, 1, ms);
  }
  ::poll(polled.data(), polled.size(), int(ms));
}

/// Tells the rank, after all earlier decisions, that no more follow.
DISTRIBUTE_INLINE void CoordinatorThread::Impl::dismiss(int rank, const char* why) {
  ranks[size_t(rank)].leaving = true;
  negotiation.leave(rank, why);
}

/// Reads all messages of the rank. A rank that leaves without announcing it has failed. The runtime
/// reports that to all ranks, so its operations just wait.
/// all ranks, so its operations just wait for that.
DISTRIBUTE_INLINE void CoordinatorThread::Impl::read(int rank) {
  Rank& from = ranks[size_t(rank)];
  while (from.open && !from.leaving) {
    const auto count = from.socket.read_some(from.reader.space());
    if (!count.ok()) from.open = false;
    if (!count.ok()) return;
    if (*count == 0) return;
    if (!from.reader.filled(*count).ok()) return dismiss(rank, "has sent what is no message");
    if (from.reader.complete()) handle(rank, from.reader.take());
  }
}

DISTRIBUTE_INLINE void CoordinatorThread::Impl::handle(int rank, const net::Frame& frame) {
  if (frame.type == uint16_t(Frames::Bye)) return dismiss(rank, "has called hvd::shutdown()");
  try {
    const auto now = net::Deadline::Clock::now();
    for (const Request& request : decode_list<Request>(frame.payload))
      negotiation.submit(rank, request, now);
  } catch (const Error&) {
    dismiss(rank, "has sent what is no message");
  }
}

DISTRIBUTE_INLINE void CoordinatorThread::Impl::answer() {
  std::vector<std::vector<Response>> of_rank(ranks.size());
  for (const auto& [receivers, response] : negotiation.take())
    for (int rank : receivers) of_rank[size_t(rank)].push_back(response);
  for (size_t i = 0; i < ranks.size(); ++i) {
    Rank& rank = ranks[i];
    if (!of_rank[i].empty())
      rank.unsent += net::encode_frame_of(uint16_t(Frames::Responses), of_rank[i]);
    if (rank.leaving && !std::exchange(rank.dismissed, true))
      rank.unsent += net::encode_frame(uint16_t(Frames::Bye), "");
  }
}

DISTRIBUTE_INLINE void CoordinatorThread::Impl::send(Rank& rank) {
  while (rank.open && !rank.unsent.empty()) {
    const auto count = rank.socket.write_some(std::as_bytes(std::span(rank.unsent)));
    if (!count.ok()) rank.open = false;
    if (!count.ok() || *count == 0) return;
    rank.unsent.erase(0, *count);
  }
  if (rank.dismissed) rank.open = false;
}

}  // namespace distribute::horovod_internal
