/// Starts the servers and clients of `distribute bench ps`, and prints what they measured.
#include "bench_ps.hpp"
#include "commands.hpp"

#include <distribute/base/ordered_json.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/detail/directory.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/parameter_server.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench_allreduce.hpp"
#include "rank_processes.hpp"
#include "raw_sockets.hpp"

namespace distribute_tools {

using namespace distribute::parameter_server;
using distribute::BufferOffer;
using distribute::BufferOffers;
using distribute::Shape;
using distribute::Tensor;
using distribute::net::Deadline;
namespace net = distribute::net;
using Id = Client::Id;

constexpr int64_t kRowWidth = 64, kRowsAtOnce = 4096;

/// The cluster's ports, held open until their tasks start.
struct Ports {
  Ports(int servers, int clients) {
    std::vector<std::string> ps, workers;
    for (int i = 0; i < servers + clients; ++i) {
      listeners.push_back(distribute::value_or_throw(
          net::Listener::bind({"127.0.0.1", 0}, Deadline::after_seconds(5))));
      (i < servers ? ps : workers).push_back(listeners.back().address().text());
    }
    cluster = distribute::ClusterSpec({{"ps", ps}, {"worker", workers}});
  }
  /// To be called once in each process.
  std::shared_ptr<distribute::rpc::JobTask> start(const std::string& type, int index) {
    const int first = type == "ps" ? 0 : cluster.num_tasks("ps");
    auto mine = std::move(listeners[size_t(first + index)]);
    listeners.clear();  // the other tasks' ports, so that one that has ended does not answer
    distribute::ClusterOptions options;
    options.startup_timeout = 60;
    options.log = [](const std::string&) {};
    return distribute::rpc::JobTask::start({cluster, type, index, options}, std::move(mine));
  }

  std::vector<net::Listener> listeners;
  distribute::ClusterSpec cluster;
};

double median_ms(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

/// Times calls, in ms.
class Clock {
 public:
  template <typename Fn>
  void time(const std::string& what, Fn&& fn) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    times_[what].push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  double median(const std::string& what) { return median_ms(times_[what]); }
  void clear() { times_.clear(); }

 private:
  std::map<std::string, std::vector<double>> times_;
};

/// Another process at the end of a socket: sends as many bytes as it gets.
class RawPeer {
 public:
  RawPeer(RankProcesses& processes, int64_t bytes) : bytes_(size_t(bytes), std::byte{1}) {
    auto [here, there] = loopback_connection();
    processes.start([&, mine = &here, other = &there] {
      mine->close();
      for (;;) {
        write(*other);
        read(*other);
      }
    });
    socket_ = std::move(here);
  }
  void there_and_back() {
    read(socket_);
    write(socket_);
  }

 private:
  /// As many bytes a call as are fastest.
  void write(net::Socket& socket) const {
    for (auto rest = std::span(bytes_); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), kCallBytes)))
      distribute::throw_if_error(socket.write(rest.first(std::min(rest.size(), kCallBytes)),
                                              Deadline::after_seconds(600)));
  }
  void read(net::Socket& socket) {
    for (auto rest = std::span(bytes_); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), kCallBytes)))
      distribute::throw_if_error(
          socket.read(rest.first(std::min(rest.size(), kCallBytes)), Deadline::after_seconds(600)));
  }

  std::vector<std::byte> bytes_;
  net::Socket socket_;
};

distribute::UpdateDescription sgd(size_t updates) {
  return {R"({"class_name":"SGD","config":{}})",
          {.rate = 1, .decayed = std::vector<bool>(updates, false)}};
}

/// Variables of 4 MiB at most, over all servers.
std::vector<Id> create_variables(Client& client, int64_t bytes) {
  std::vector<Id> ids;
  for (int64_t left = bytes / 4; left > 0;) {
    const int64_t size = std::min<int64_t>(left, 1 << 20);
    left -= size;
    ids.push_back(
        client.create({.key = distribute::str_cat(bytes, "/", ids.size()), .shape = {size}},
                      InitialValue::filled(0), Existing::Keep));
  }
  return ids;
}

/// A gradient of -1, where the server wants it.
Tensor make_gradient(Client& client, Id id, const Shape& shape, bool fill) {
  std::vector<BufferOffer> offers;
  if (auto offer = client.place_gradient(id)) offers.push_back(std::move(*offer));
  const BufferOffers scope(std::move(offers));
  if (fill) return distribute::fill(shape, -1.0);
  return Tensor::empty(shape, distribute::DType::Float32);
}

void push_all(Client& client, const std::vector<Id>& ids, const std::vector<Tensor>& values,
              bool fill) {
  Client::Push push{.kernel = sgd(ids.size())};
  for (size_t i = 0; i < ids.size(); ++i)
    push.updates.push_back({ids[i], {}, make_gradient(client, ids[i], values[i].shape(), fill)});
  client.push(push);
}

/// The same work on all clients, as often; client 0 measures.
ServerTime time_size(Client& client, int rank, int64_t bytes, const ServerBenchOptions& options,
                     RawPeer* raw) {
  const std::vector<Id> ids = create_variables(client, bytes);
  const std::string key = std::to_string(bytes);
  push_all(client, ids, client.pull(ids), true);
  client.flush();
  const auto meet = [&](const char* where) {
    client.set(distribute::str_cat(key, where, rank), "");
    for (int other = 0; other < options.world; ++other)
      client.wait(distribute::str_cat(key, where, other), Deadline::after_seconds(60));
  };
  meet(" pushed ");
  for (const Tensor& value : client.pull(ids))
    if (value.data<float>()[0] != float(options.world))
      throw std::runtime_error("a value is wrong");
  meet(" checked ");
  Clock clock;
  std::vector<std::byte> from, to;
  if (rank == 0) from.resize(size_t(bytes), std::byte{1}), to.resize(size_t(bytes));
  std::vector<Tensor> values;
  const auto turn = [&] {
    clock.time("pull", [&] { values = client.pull(ids); });
    // Not the kernels that would fill the gradients, which is part of computing.
    clock.time("push", [&] { push_all(client, ids, values, false); });
    clock.time("apply", [&] { client.flush(); });
    if (rank != 0) return;
    clock.time("memory", [&] {
      std::memcpy(to.data(), from.data(), from.size());
      std::memcpy(from.data(), to.data(), to.size());
    });
    if (raw) clock.time("socket", [&] { raw->there_and_back(); });
  };
  for (int i = 0; i < 3; ++i) turn();
  if (rank == 0) {
    const double ms = clock.median("pull") + clock.median("push") + clock.median("apply") +
                      clock.median("memory") + clock.median("socket");
    client.set(key + " turns", std::to_string(std::clamp(options.seconds * 1e3 / ms, 20.0, 1e4)));
  }
  const int turns = std::stoi(client.wait(key + " turns", Deadline::after_seconds(60)));
  clock.clear();
  for (int i = 0; i < turns; ++i) turn();
  return {
      client.transport(0),   options.servers,      options.world,         bytes,
      clock.median("pull"),  clock.median("push"), clock.median("apply"), clock.median("memory"),
      clock.median("socket")};
}

SparseTime time_sparse(Client& client, const ServerBenchOptions& options) {
  const int shards = options.servers;
  const int64_t rows = options.rows / shards;
  std::vector<Id> ids;
  for (int s = 0; s < shards; ++s)
    ids.push_back(client.create(
        {.key = distribute::str_cat("table/part_", s), .shape = {rows, kRowWidth}, .server = s},
        InitialValue::rows([](int64_t begin, int64_t end) {
          return distribute::fill({end - begin, kRowWidth}, float(begin % 100));
        }),
        Existing::Keep));
  const int64_t before = client.bytes_moved();
  Clock clock;
  uint64_t random = 1;
  const auto turn = [&] {
    Client::Push push{.kernel = sgd(ids.size())};
    for (const Id id : ids) {
      std::vector<int64_t> some(size_t(kRowsAtOnce / shards));
      for (int64_t& row : some) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        row = int64_t((random >> 20) % uint64_t(rows));
      }
      const Tensor numbers(Shape{int64_t(some.size())}, some);
      const Tensor values = client.gather_rows(id, numbers);
      push.updates.push_back(
          {id, {}, distribute::to_tensor({values, numbers, Shape{rows, kRowWidth}})});
    }
    client.push(push);
    client.flush();
  };
  const int turns = std::max(20, int(options.seconds * 200));
  for (int i = 0; i < turns; ++i) clock.time("rows", turn);
  const double at_once = double(kRowsAtOnce / shards * shards);
  return {options.rows, rows * shards * kRowWidth * 4, at_once / clock.median("rows") * 1e3,
          double(client.bytes_moved() - before) / (at_once * turns)};
}

/// Elements of ResNet-50's variables in the order of their creation.
std::vector<int64_t> resnet50_sizes() {
  std::vector<int64_t> sizes = {7 * 7 * 3 * 64, 64, 64};
  int64_t in = 64;
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      const int64_t width = int64_t{64} << stage, out = 4 * width;
      for (const int64_t convolution : {in * width, 9 * width * width, width * out}) {
        const int64_t channels = convolution == width * out ? out : width;
        sizes.insert(sizes.end(), {convolution, channels, channels});
      }
      if (block == 0) sizes.insert(sizes.end(), {in * out, out, out});
      in = out;
    }
  sizes.insert(sizes.end(), {2048 * 1000, 1000});
  return sizes;
}

double balance(Placement placement) {
  Directory directory(2);
  double loads[2] = {0, 0};
  int number = 0;
  for (const int64_t size : resnet50_sizes())
    loads[directory.place({.key = std::to_string(number++), .shape = {size}}, placement, "")] +=
        double(size);
  return std::max(loads[0], loads[1]) / (loads[0] + loads[1]) * 2;
}

ServerBenchResult time_parameter_servers(const ServerBenchOptions& options) {
  Ports ports(options.servers, options.world);
  RankProcesses processes;
  const auto sizes = parse_sizes(options.bytes);
  std::vector<std::unique_ptr<RawPeer>> raw;
  for (const int64_t bytes : sizes) raw.push_back(std::make_unique<RawPeer>(processes, bytes));
  for (int s = 0; s < options.servers; ++s)
    processes.start([&] { ParameterServer(ports.start("ps", s)).join(); });
  const auto run = [&](int rank) {
    ServerBenchResult result;
    Client client(ports.start("worker", rank),
                  {.transport = options.transport == "tcp"   ? Transport::Tcp
                                : options.transport == "shm" ? Transport::SharedMemory
                                                             : Transport::Auto});
    for (size_t i = 0; i < sizes.size(); ++i)
      result.dense.push_back(
          time_size(client, rank, sizes[i], options, rank == 0 ? raw[i].get() : nullptr));
    if (rank == 0 && options.rows > 0) result.sparse = time_sparse(client, options);
    return result;
  };
  for (int rank = 1; rank < options.world; ++rank) processes.start([&] { run(rank); });
  ServerBenchResult result = run(0);
  result.balance = {balance(Placement::RoundRobin), balance(Placement::GreedyBytes)};
  return result;
}

void print_json(const ServerBenchResult& result) {
  auto dense = nlohmann::ordered_json::array();
  for (const ServerTime& time : result.dense)
    dense.push_back({{"transport", time.transport},
                     {"ps", time.servers},
                     {"world", time.world},
                     {"bytes", time.bytes},
                     {"ms_pull", time.ms_pull},
                     {"ms_push", time.ms_push},
                     {"ms_apply", time.ms_apply},
                     {"ms_memory", time.ms_memory},
                     {"ms_socket", time.ms_socket},
                     {"share", time.share()}});
  nlohmann::ordered_json root = {{"dense", dense}};
  if (result.sparse.rows > 0)
    root["sparse"] = {{"rows", result.sparse.rows},
                      {"table_bytes", result.sparse.table_bytes},
                      {"rows_per_second", result.sparse.rows_per_second},
                      {"bytes_per_row", result.sparse.bytes_per_row}};
  root["balance"] = {{"round_robin", result.balance.round_robin},
                     {"greedy", result.balance.greedy}};
  std::printf("%s\n", distribute::json_text(root, 2).c_str());
}

void print_table(const ServerBenchResult& result) {
  std::printf("%-10s %4s %6s %12s %9s %9s %9s %10s %10s %7s\n", "transport", "ps", "world", "bytes",
              "ms pull", "ms push", "ms apply", "ms memory", "ms socket", "share");
  for (const ServerTime& time : result.dense)
    std::printf("%-10s %4d %6d %12lld %9.2f %9.2f %9.2f %10.2f %10.2f %6.0f%%\n",
                time.transport.c_str(), time.servers, time.world,
                static_cast<long long>(time.bytes), time.ms_pull, time.ms_push, time.ms_apply,
                time.ms_memory, time.ms_socket, 100 * time.share());
  if (result.sparse.rows > 0)
    std::printf("table of %lld rows, %.2f GB: %.0f rows/s gathered and pushed, %.0f bytes a row\n",
                static_cast<long long>(result.sparse.rows),
                double(result.sparse.table_bytes) * 1e-9, result.sparse.rows_per_second,
                result.sparse.bytes_per_row);
  std::printf("ResNet-50 on 2 servers, larger share by the mean: greedy %.3f, round robin %.3f\n",
              result.balance.greedy, result.balance.round_robin);
}

int bench_parameter_servers(const ServerBenchOptions& options) {
  parse_sizes(options.bytes);
  const ServerBenchResult result = time_parameter_servers(options);
  options.json ? print_json(result) : print_table(result);
  return 0;
}

Command bench_parameter_servers_command() {
  using O = ServerBenchOptions;
  return make_command<O>(
      "bench ps", "",
      "pull and push of parameter servers beside memcpy and raw sockets, rows of a sparse table, "
      "and how evenly two servers share ResNet-50",
      {{"ps=N", &O::servers, at_least(1).at_most(64), "servers"},
       {"world=N", &O::world, at_least(1).at_most(64), "clients"},
       {"transport=T", &O::transport, one_of("auto", "shm", "tcp"), "what moves the bytes"},
       {"bytes=SIZES", &O::bytes, "bytes of all variables, with commas"},
       {"rows=N", &O::rows, at_least(0).at_most(1e9),
        "rows of the sparse table, of 64 numbers; 0: none"},
       {"seconds=X", &O::seconds, above(0).at_most(600), "time for each size, at least 20 rounds"},
       {"json", &O::json, "print JSON instead of a table"}},
      [](const O& options, const CommandLine&) { return bench_parameter_servers(options); });
}

}  // namespace distribute_tools
