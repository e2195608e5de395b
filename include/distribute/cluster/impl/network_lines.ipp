#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/check_purpose.hpp>
#include <distribute/cluster/detail/clock_offset.hpp>
#include <distribute/cluster/detail/network_lines.hpp>
#include <distribute/net/message.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace distribute {

namespace cluster_internal {

inline constexpr size_t kPingBytes = 64;
inline constexpr int kPings = 200;
inline constexpr double kPingSeconds = 0.5;  // at most, where the way is long
inline constexpr double kStreamSeconds = 0.2;

DISTRIBUTE_INLINE double now_seconds() {
  return std::chrono::duration<double>(net::Deadline::Clock::now().time_since_epoch()).count();
}

/// Returns the time of the system clock, which two hosts may compare.
DISTRIBUTE_INLINE int64_t wall_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A connection with both ends; all waits end at the deadline with an error.
class Wire {
 public:
  Wire(net::Socket socket, net::Deadline deadline)
      : socket_(std::move(socket)), deadline_(deadline) {}

  void send(std::span<const std::byte> bytes) { throw_if_error(socket_.write(bytes, deadline_)); }
  void receive(std::span<std::byte> bytes) { throw_if_error(socket_.read(bytes, deadline_)); }
  void send_number(int64_t value) {
    const std::string bytes = net::encode_message(value);
    send(std::as_bytes(std::span(bytes)));
  }
  int64_t receive_number() {
    std::string bytes(8, '\0');
    receive(std::as_writable_bytes(std::span(bytes)));
    return value_or_throw(net::parse_message<int64_t>(bytes, "number"));
  }
  int native() const { return socket_.native(); }

 private:
  net::Socket socket_;
  net::Deadline deadline_;
};

/// Answers pings; the number before each tells whether another follows.
DISTRIBUTE_INLINE void answer_pings(Wire& wire) {
  std::array<std::byte, kPingBytes> ping{};
  while (wire.receive_number()) {
    wire.receive(ping);
    wire.send_number(wall_ns());
    wire.send(ping);
  }
}

DISTRIBUTE_INLINE void ping(Wire& wire, NetworkLine& line) {
  ClockOffset clock;
  std::array<std::byte, kPingBytes> bytes{};
  std::vector<double> trips;
  const double begin = now_seconds();
  for (int i = 0; i < kPings && (i < 10 || now_seconds() < begin + kPingSeconds); ++i) {
    const double start = now_seconds();
    const int64_t sent = wall_ns();
    wire.send_number(1);
    wire.send(bytes);
    const int64_t there = wire.receive_number();
    wire.receive(bytes);
    clock.add(sent, there, there, wall_ns());
    if (i >= 3) trips.push_back(now_seconds() - start);  // the first ones warm everything up
  }
  wire.send_number(0);
  std::sort(trips.begin(), trips.end());
  line.latency_p50 = trips[trips.size() / 2];
  line.latency_p99 = trips[std::min(trips.size() - 1, trips.size() * 99 / 100)];
  line.clock_offset = double(clock.offset()) * 1e-9;
}

DISTRIBUTE_INLINE void take_stream(Wire& wire) {
  std::vector<std::byte> piece(1 << 18);
  while (const int64_t size = wire.receive_number()) {
    for (int64_t done = 0; done < size;) {
      const auto part =
          std::span(piece).first(size_t(std::min<int64_t>(size - done, int64_t(piece.size()))));
      wire.receive(part);
      done += int64_t(part.size());
    }
    wire.send_number(size);
  }
}

/// Sends more and more until it takes long enough; bytes per second of the largest.
DISTRIBUTE_INLINE double stream(Wire& wire) {
  const std::vector<std::byte> piece(1 << 20);
  double rate = 0;
  for (int64_t size = 1 << 18;; size *= 4) {
    const double begin = now_seconds();
    wire.send_number(size);
    for (int64_t done = 0; done < size; done += int64_t(piece.size()))
      wire.send(std::span(piece).first(size_t(std::min<int64_t>(size, int64_t(piece.size())))));
    wire.receive_number();
    const double took = now_seconds() - begin;
    rate = double(size) / took;
    if (took > kStreamSeconds / 4 || size >= (int64_t{1} << 30)) break;
  }
  wire.send_number(0);
  return rate;
}

/// The kernel's tcp_info has more fields than the C library's.
struct LongTcpInfo {
  tcp_info start;
  uint64_t pacing_rates[2], bytes_acked, bytes_received;
  uint32_t segments_out;
};
static_assert(sizeof(tcp_info) == 104, "as in Linux 3.15");

DISTRIBUTE_INLINE void read_path(const Wire& wire, NetworkLine& line) {
  LongTcpInfo info{};
  socklen_t size = sizeof info;
  if (::getsockopt(wire.native(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return;
  line.mtu = int(info.start.tcpi_pmtu);
  line.lost_share =
      double(info.start.tcpi_total_retrans) / std::max(1.0, double(info.segments_out));
}

/// Streams after small messages have come through: where none comes to its end, packets of full
/// size may be lost on the way.
DISTRIBUTE_INLINE void measure_streams(Wire& wire, bool leads, NetworkLine& line) try {
  if (!leads) {
    take_stream(wire);
    wire.send_number(int64_t(stream(wire)));
    return;
  }
  line.forth = stream(wire);
  take_stream(wire);
  line.back = double(wire.receive_number());
  read_path(wire, line);
} catch (const DeadlineExceededError& error) {
  throw DeadlineExceededError(
      str_cat(error.what(), "; small messages arrive, large ones do not: most likely some hop ",
              "passes smaller packets only, and a firewall drops its answer (ICMP 'fragmentation ",
              "needed'). Let that through, lower the MTU of both interfaces (ip link set dev NAME ",
              "mtu 1400), or set net.ipv4.tcp_mtu_probing=1"));
}

DISTRIBUTE_INLINE void measure(Wire& wire, bool leads, NetworkLine& line) {
  if (leads)
    ping(wire, line);
  else
    answer_pings(wire);
  measure_streams(wire, leads, line);
}

/// Returns the opponent in a round of a tournament of `size` (even) players, by the circle method.
DISTRIBUTE_INLINE int opponent(int player, int round, int size) {
  if (player == size - 1) return round;
  if (player == round) return size - 1;
  return ((2 * round - player) % (size - 1) + size - 1) % (size - 1);
}

DISTRIBUTE_INLINE bool is_cut(const std::vector<std::vector<int>>& unreached, int a, int b) {
  const auto misses = [&](int from, int to) {
    if (unreached.empty()) return false;
    const std::vector<int>& missed = unreached[size_t(from)];
    return std::find(missed.begin(), missed.end(), to) != missed.end();
  };
  return misses(a, b) || misses(b, a);
}

/// Measures a pair of tasks; the lower rank leads, and gets the results.
DISTRIBUTE_INLINE NetworkLine measure_pair(ClusterRuntime& runtime, int other) {
  const int self = runtime.rank();
  NetworkLine line{.from = self, .to = other};
  line.one_host = runtime.hosts()[size_t(self)] == runtime.hosts()[size_t(other)];
  const auto deadline = net::Deadline::after_seconds(8);
  try {
    Wire wire(runtime.peer_socket(other, kCheckPurpose, 0, net::Deadline::after_seconds(5)),
              deadline);
    measure(wire, self < other, line);
  } catch (const Error& error) {
    line.problem = error.what();
  }
  return line;
}

}  // namespace cluster_internal

DISTRIBUTE_INLINE nlohmann::ordered_json NetworkLine::json() const {
  return {{"from", from},
          {"to", to},
          {"one_host", one_host},
          {"problem", problem},
          {"latency_us_p50", latency_p50 * 1e6},
          {"latency_us_p99", latency_p99 * 1e6},
          {"bytes_per_second", forth},
          {"bytes_per_second_back", back},
          {"clock_offset_ms", clock_offset * 1e3},
          {"mtu", mtu},
          {"lost_share", lost_share}};
}

DISTRIBUTE_INLINE NetworkLine NetworkLine::from_json(const nlohmann::ordered_json& json) {
  return {.from = json["from"],
          .to = json["to"],
          .one_host = json["one_host"],
          .problem = json["problem"],
          .latency_p50 = json["latency_us_p50"].get<double>() * 1e-6,
          .latency_p99 = json["latency_us_p99"].get<double>() * 1e-6,
          .forth = json["bytes_per_second"],
          .back = json["bytes_per_second_back"],
          .clock_offset = json["clock_offset_ms"].get<double>() * 1e-3,
          .mtu = json["mtu"],
          .lost_share = json["lost_share"]};
}

DISTRIBUTE_INLINE std::vector<NetworkLine> measure_network_lines(
    ClusterRuntime& runtime, const std::vector<std::vector<int>>& unreached) {
  const int players = runtime.size() + runtime.size() % 2;
  std::vector<NetworkLine> mine;
  for (int round = 0; round + 1 < players; ++round) {
    const int other = cluster_internal::opponent(runtime.rank(), round, players);
    if (other < runtime.size() && !cluster_internal::is_cut(unreached, runtime.rank(), other)) {
      const NetworkLine line = cluster_internal::measure_pair(runtime, other);
      // Problems that only the higher rank saw, such as a blocked connection, count as well.
      if (runtime.rank() < other || !line.problem.empty()) mine.push_back(line);
    }
    runtime.barrier("doctor");
  }
  return mine;
}

DISTRIBUTE_INLINE std::vector<NetworkLine> gather_network_lines(
    ClusterRuntime& runtime, const std::vector<NetworkLine>& mine) {
  auto json = nlohmann::ordered_json::array();
  for (const NetworkLine& line : mine) json.push_back(line.json());
  std::vector<NetworkLine> lines;
  for (const std::string& text : runtime.all_gather("doctor lines", json_text(json)))
    for (const auto& line : ordered_json_of(text)) lines.push_back(NetworkLine::from_json(line));
  return lines;
}

}  // namespace distribute
