/// Starts the ranks of `distribute bench allreduce`, and prints what they measured.
#include "bench_allreduce.hpp"
#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "rank_processes.hpp"
#include "raw_memory.hpp"
#include "raw_sockets.hpp"

namespace distribute_tools {

using distribute::DType;
using distribute::collective::Communicator;
namespace collective = distribute::collective;
namespace net = distribute::net;

double AllReduceTime::bus_gbytes_per_second() const {
  return 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) / us_p50 * 1e-3;
}

std::vector<int64_t> parse_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
    char unit = 'B', rest = 0;
    long long number = 0;
    const int fields = std::sscanf(word.c_str(), "%10lld%c%c", &number, &unit, &rest);
    const size_t power = std::string_view("BKMG").find(absl::ascii_toupper(unit));
    const int shift = 10 * int(power);
    if (fields < 1 || fields > 2 || power > 3 || number < 0 || number > (4ll << 30 >> shift) ||
        (number << shift) < 4)
      throw UsageProblem("--bytes: sizes such as 4, 64K or 25M from 4 to 4G, not '" + word + "'");
    sizes.push_back(number << shift);
  }
  return sizes;
}

/// Calls the rounds in turn, again and again, on all ranks as often; the times of each on this
/// rank, in us. In turn, so that what else the machine does hits all of them.
std::vector<std::vector<double>> time_rounds(Communicator& group, double seconds,
                                             const std::vector<std::function<void()>>& rounds) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(rounds.size());
  const auto once = [&] {
    for (size_t i = 0; i < rounds.size(); ++i) {
      const auto start = Clock::now();
      rounds[i]();
      times[i].push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
  };
  for (int i = 0; i < 3; ++i) once();
  double turn = 0;
  for (auto& one : times) {
    turn += one.back();
    one.clear();
  }
  int64_t turns = int64_t(std::clamp(seconds * 1e6 / turn, 20.0, 20'000.0));
  group.broadcast(&turns, 1, DType::Int64, 0);
  for (int64_t i = 0; i < turns; ++i) once();
  return times;
}

AllReduceTime summary(std::string transport, int ranks, int64_t bytes, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double quantile) {
    return times[std::min(times.size() - 1, size_t(quantile * double(times.size())))];
  };
  return {std::move(transport), ranks, bytes, times[0], at(0.50), at(0.99)};
}

/// The numbers of a rank, in the shared memory or elsewhere.
class Numbers {
 public:
  Numbers(Communicator& group, int64_t count, bool in_place) : size_(count) {
    const auto shared = group.shared_memory();
    if (in_place && int64_t(shared.size()) < count * 4)
      throw std::runtime_error("the shared memory of a rank is smaller than the array");
    if (!in_place) own_.reset(new float[size_t(count)]);
    data_ = in_place ? reinterpret_cast<float*>(shared.data()) : own_.get();
  }
  float* data() const { return data_; }
  void fill(float value) { std::fill(data_, data_ + size_, value); }
  bool all_are(float value) const {
    return std::all_of(data_, data_ + size_, [=](float x) { return x == value; });
  }

 private:
  int64_t size_;
  std::unique_ptr<float[]> own_;
  float* data_;
};

void check_sum(Communicator& group, Numbers& numbers, int64_t count) {
  const int ranks = group.size();
  numbers.fill(float(group.rank() + 1));
  group.all_reduce(numbers.data(), count, DType::Float32);
  if (!numbers.all_are(float(ranks * (ranks + 1) / 2)))
    throw std::runtime_error("the sum is wrong");
  group.barrier();
  numbers.fill(0);
}

/// What a rank measures.
struct Measured {
  std::vector<std::pair<std::string, Communicator*>> groups;  // with their names
  std::vector<const net::Socket*> raw;                        // to the other ranks, or none
};

/// One round of what the machine itself needs for the bytes of an all-reduce.
class RawRound {
 public:
  RawRound(const Measured& measured, int64_t bytes, const AllReduceBenchOptions& options)
      : group_(*measured.groups[0].second),
        sockets_(measured.raw),
        bytes_(bytes),
        in_place_(options.in_place) {
    // What an all-reduce sends to each other rank; without sockets the array.
    share_ = sockets_.empty() ? size_t(bytes) : size_t(2 * bytes / group_.size());
    if (in_place_) return;
    from_.resize(share_ * std::max<size_t>(sockets_.size(), 1), std::byte{1});
    if (!sockets_.empty()) to_.resize(from_.size(), std::byte{2});
  }
  const char* name() const { return sockets_.empty() ? "raw_memory" : "raw_tcp"; }
  void operator()() {
    if (!sockets_.empty()) return exchange_raw(sockets_, share_, from_.data(), to_.data());
    const int64_t count = bytes_ / 4, rank = group_.rank(), ranks = group_.size();
    std::vector<float*> shared;
    for (int r = 0; r < ranks; ++r)
      shared.push_back(reinterpret_cast<float*>(group_.shared_memory(r).data()));
    if (in_place_) return sum_in_place(shared, count * rank / ranks, count * (rank + 1) / ranks);
    sum_through_slots(reinterpret_cast<float*>(from_.data()), shared, int(rank), count);
  }

 private:
  Communicator& group_;
  const std::vector<const net::Socket*>& sockets_;
  const int64_t bytes_;
  const bool in_place_;
  size_t share_ = 0;
  std::vector<std::byte> from_, to_;
};

std::vector<AllReduceTime> time_size(const Measured& measured, int64_t bytes,
                                     const AllReduceBenchOptions& options) {
  Communicator& first = *measured.groups[0].second;
  const int ranks = first.size();
  const int64_t count = bytes / 4;
  Numbers numbers(first, count, options.in_place);
  std::optional<RawRound> raw;
  if (options.raw) raw.emplace(measured, bytes, options);
  std::vector<std::function<void()>> rounds;
  for (const auto& [name, group] : measured.groups) {
    check_sum(*group, numbers, count);
    rounds.push_back(
        [&, group = group] { group->all_reduce(numbers.data(), count, DType::Float32); });
  }
  if (raw) rounds.push_back([&] { (*raw)(); });
  auto times = time_rounds(first, options.seconds, rounds);
  std::vector<AllReduceTime> result;
  for (size_t i = 0; i < measured.groups.size(); ++i)
    result.push_back(summary(measured.groups[i].first, ranks, bytes, std::move(times[i])));
  if (raw) result.push_back(summary(raw->name(), ranks, bytes, std::move(times.back())));
  return result;
}

std::vector<AllReduceTime> time_all(const Measured& measured,
                                    const AllReduceBenchOptions& options) {
  std::vector<AllReduceTime> result;
  for (int64_t bytes : parse_sizes(options.bytes))
    for (AllReduceTime& time : time_size(measured, bytes, options))
      result.push_back(std::move(time));
  measured.groups[0].second->barrier();
  return result;
}

/// Every rank's ends of the connections: sockets[rank][peer][flow].
using Sockets = std::vector<std::vector<std::vector<net::Socket>>>;

/// `tls`: null for plain connections.
Sockets connect_all(int world, int flows,
                    const std::shared_ptr<const net::TlsContext>& tls = nullptr) {
  Sockets sockets(static_cast<size_t>(world));
  for (auto& rank : sockets) rank.resize(size_t(world));
  for (size_t a = 0; a < sockets.size(); ++a)
    for (size_t b = a + 1; b < sockets.size(); ++b)
      for (int f = 0; f < flows; ++f) {
        auto [one, other] = loopback_connection();
        if (tls)
          distribute::throw_if_error(
              net::encrypt_pair(one, other, tls, net::Deadline::after_seconds(10)));
        sockets[a][b].push_back(std::move(one));
        sockets[b][a].push_back(std::move(other));
      }
  return sockets;
}

using Measure = std::function<std::vector<AllReduceTime>(int rank)>;

std::vector<AllReduceTime> in_processes(int world, const Measure& measure) {
  RankProcesses others;
  for (int rank = 1; rank < world; ++rank) others.start([&] { measure(rank); });
  return measure(0);
}

std::vector<AllReduceTime> in_threads(int world, const Measure& measure) {
  std::vector<AllReduceTime> result;
  distribute::testing::run_on_threads(world,
                                      [&](int rank) {
                                        auto times = measure(rank);
                                        if (rank == 0) result = std::move(times);
                                      },
                                      {.deadline_seconds = 1e9});
  return result;
}

/// On the ranks that mpirun has started; only rank 0 has something to print.
std::vector<AllReduceTime> time_mpi(const AllReduceBenchOptions& options) {
  Communicator group(collective::make_mpi_transport(), {.timeout_seconds = 60});
  if (group.size() == 1)
    throw std::runtime_error("--transport=mpi: start it with mpirun -np N distribute bench ...");
  auto times = time_all({{{group.transport(), &group}}, {}}, options);
  return group.rank() == 0 ? times : std::vector<AllReduceTime>();
}

/// With a key of this run alone.
std::shared_ptr<const net::TlsContext> make_tls() {
  return distribute::value_or_throw(net::TlsContext::make(
      {.name = "bench", .token = distribute::value_or_throw(net::make_job_token())}));
}

/// The sockets of all groups over TCP, with the groups' names.
std::vector<std::pair<std::string, Sockets>> connect_groups(const AllReduceBenchOptions& options) {
  std::vector<std::pair<std::string, Sockets>> result;
  if (options.transport != "tcp" && options.transport != "ucx") return result;
  const bool only_tls = distribute::ClusterOptions::from_environment().tls;
  if (!only_tls) result.emplace_back("tcp", connect_all(options.world, options.flows));
  if (only_tls || options.tls)
    result.emplace_back("tcp_tls", connect_all(options.world, options.flows, make_tls()));
  return result;
}

std::vector<AllReduceTime> time_all_reduces(const AllReduceBenchOptions& options) {
  if (options.transport == "mpi") return time_mpi(options);
  const int world = options.world;
  // UCX stands beside TCP, through which its ranks find each other.
  const bool ucx = options.transport == "ucx", tcp = options.transport == "tcp" || ucx,
             threads = options.transport == "threads";
  auto sockets = connect_groups(options);
  const Sockets raw_sockets = connect_all(world, options.raw && tcp ? 1 : 0);
  auto in_process = threads ? collective::make_thread_transports(world)
                            : std::vector<std::unique_ptr<collective::Transport>>();
  const auto window = tcp || threads ? nullptr : collective::Window::create(world);
  const auto measure = [&](int rank) {
    std::vector<std::unique_ptr<Communicator>> groups;
    Measured measured;
    const auto add = [&](const char* name, std::unique_ptr<collective::Transport> transport) {
      groups.push_back(std::make_unique<Communicator>(
          std::move(transport), collective::CommunicatorOptions{.timeout_seconds = 60}));
      measured.groups.emplace_back(name, groups.back().get());
    };
    if (threads) add("threads", std::move(in_process[size_t(rank)]));
    if (window) add("shm", std::make_unique<collective::WindowTransport>(window, rank, "shm"));
    for (auto& [name, all] : sockets)
      add(name.c_str(), std::make_unique<collective::TcpTransport>(
                            collective::TcpMesh{rank, std::move(all[size_t(rank)])}));
    if (ucx) add("ucx", collective::make_ucx_transport(*groups[0]));
    if (tcp) sockets.clear();  // the other ranks' ends, so that a rank that dies is noticed
    for (const auto& peer : raw_sockets[size_t(rank)])
      if (!peer.empty()) measured.raw.push_back(peer.data());
    return time_all(measured, options);
  };
  return threads ? in_threads(world, measure) : in_processes(world, measure);
}

void print_json(const std::vector<AllReduceTime>& times) {
  auto root = nlohmann::ordered_json::array();
  for (const AllReduceTime& time : times)
    root.push_back({{"transport", time.transport},
                    {"ranks", time.ranks},
                    {"bytes", time.bytes},
                    {"us_best", time.us_best},
                    {"us_p50", time.us_p50},
                    {"us_p99", time.us_p99},
                    {"bus_gbytes_per_second", time.bus_gbytes_per_second()}});
  std::printf("%s\n", distribute::json_text(root, 2).c_str());
}

void print_table(const std::vector<AllReduceTime>& times) {
  std::printf("%-10s %5s %12s %12s %12s %12s %10s\n", "transport", "ranks", "bytes", "us best",
              "us p50", "us p99", "bus GB/s");
  for (const AllReduceTime& time : times)
    std::printf("%-10s %5d %12lld %12.1f %12.1f %12.1f %10.3f\n", time.transport.c_str(),
                time.ranks, static_cast<long long>(time.bytes), time.us_best, time.us_p50,
                time.us_p99, time.bus_gbytes_per_second());
}

int bench_all_reduce(AllReduceBenchOptions options) {
  if (options.raw && options.world < 2) throw UsageProblem("--raw needs a --world of at least 2");
  parse_sizes(options.bytes);
  if (options.transport == "auto") options.transport = "shm";  // all ranks are on this host
  const auto times = time_all_reduces(options);
  if (times.empty()) return 0;  // not rank 0 of mpirun's
  options.json ? print_json(times) : print_table(times);
  return 0;
}

Command bench_all_reduce_command() {
  using O = AllReduceBenchOptions;
  return make_command<O>(
      "bench allreduce", "", "time of an all-reduce between ranks on this machine",
      {{"world=N", &O::world, at_least(1).at_most(64), "ranks"},
       {"transport=T", &O::transport, one_of("auto", "threads", "shm", "tcp", "ucx", "mpi"),
        "what moves the bytes"},
       {"bytes=SIZES", &O::bytes, "sizes of the array, with commas; K, M and G are powers of 1024"},
       {"flows=N", &O::flows, at_least(1).at_most(16), "TCP connections between two ranks"},
       {"seconds=X", &O::seconds, above(0).at_most(600), "time for each size, at least 20 rounds"},
       {"raw", &O::raw, any().only_with("transport", {"auto", "threads", "shm", "tcp", "ucx"}),
        "also sockets, or memory, alone with the same bytes"},
       {"tls", &O::tls, any().only_with("transport", {"tcp"}),
        "also encrypted, in turn with plain sockets; with DISTRIBUTE_TLS=1 only so"},
       {"in_place", &O::in_place, any().only_with("transport", {"auto", "threads", "shm"}),
        "the array lies in the shared memory"},
       {"json", &O::json, "print JSON instead of a table"}},
      [](const O& options, const CommandLine&) { return bench_all_reduce(options); });
}

}  // namespace distribute_tools
