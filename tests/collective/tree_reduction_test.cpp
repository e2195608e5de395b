#include <distribute/collective/detail/tree_plan.hpp>
#include <distribute/collective/detail/window_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/collective/faulty_messages.hpp>
#include <tests/collective/hierarchy.hpp>
#include <tests/collective/tcp_mesh.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

using namespace tcp_mesh;
using Catch::Contains;
using contract::MakeGroup;

namespace {

/// Every two of 48 ranks have a connection.
void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::unique_ptr<Transport>> make_shm(int ranks) {
  const auto first = Window::create(ranks, 1 << 20);
  std::vector<std::unique_ptr<Transport>> result;
  for (int r = 0; r < ranks; ++r)
    result.push_back(std::make_unique<WindowTransport>(
        Window::attach(::dup(first->descriptor()), ranks, 1 << 20), r, "shm"));
  return result;
}

TcpOptions small_only() { return {.costs = {.latency = 1}}; }

MakeGroup tcp(const TcpOptions& options) {
  return [options](int ranks) {
    raise_descriptor_limit();
    return make_group(ranks, 1, false, options);
  };
}

MakeGroup hosts(std::vector<int> sizes, const TcpOptions& options) {
  return [=](int ranks) {
    raise_descriptor_limit();
    return hierarchy::hosts_with(sizes, 1, options)(ranks);
  };
}

void sums_of(const MakeGroup& make, int ranks) {
  CAPTURE(ranks);
  std::vector<contract::Body> cases;
  for (int64_t count : {0, 1, 40, 5001})
    cases.push_back(contract::all_reduce_case<float>(ranks, count, ReductionOp::Sum));
  cases.push_back(contract::all_reduce_case<float>(ranks, 3001, ReductionOp::Mean));
  cases.push_back(contract::all_reduce_case<bfloat16>(ranks, 3001, ReductionOp::Mean));
  cases.push_back(contract::all_reduce_case<float16>(ranks, 40, ReductionOp::Sum));
  cases.push_back(contract::all_reduce_case<int64_t>(ranks, 3001, ReductionOp::Max));
  cases.push_back(contract::all_reduce_case<uint8_t>(ranks, 40, ReductionOp::Product));
  cases.push_back(contract::all_reduce_case<bool>(ranks, 40, ReductionOp::Min));
  contract::run_cases(make, ranks, cases);
}

}  // namespace

TEST_CASE("every transport sums any number of ranks in the same order", "[collective][tree]") {
  const int ranks = GENERATE(3, 5, 17, 24, 48);
  SECTION("threads") { sums_of(make_thread_transports, ranks); }
  SECTION("shared memory") { sums_of(make_shm, ranks); }
  SECTION("TCP") { sums_of(tcp({}), ranks); }
  SECTION("TCP, recursive halving") { sums_of(tcp(large_only(512)), ranks); }
  SECTION("TCP, recursive doubling") { sums_of(tcp(small_only()), ranks); }
}

TEST_CASE("hosts of all sizes sum their ranks in the same order", "[collective][tree]") {
  const auto [sizes, ranks] = GENERATE(
      std::pair(std::vector<int>{3}, 15), std::pair(std::vector<int>{5}, 15),
      std::pair(std::vector<int>{6}, 48), std::pair(std::vector<int>{8}, 48),
      std::pair(std::vector<int>{1, 2, 3}, 6), std::pair(std::vector<int>{2, 7, 1, 3}, 24));
  const TcpOptions options = GENERATE(TcpOptions{}, large_only(512));
  CAPTURE(sizes);
  sums_of(hosts(sizes, options), ranks);
}

TEST_CASE("what one rank gives in a sum another gets, and the ranges are the whole array",
          "[collective][tree]") {
  const int ranks = GENERATE(2, 3, 6, 13, 16, 17, 31, 48, 65);
  const int on_host = GENERATE(1, 3, 4);
  CAPTURE(ranks, on_host);
  std::vector<int> holder_of_rank;
  for (int r = 0; r < ranks; ++r) holder_of_rank.push_back(r / on_host);
  const int holders = holder_of_rank.back() + 1;
  if (holders == 1) return;
  constexpr int64_t kCount = 1'000'003;
  // By giver, getter, level and side.
  std::map<std::tuple<int, int, int, int>, std::pair<int64_t, int64_t>> given, got;
  int64_t covered = 0, most_sent = 0, leaves = 0;
  for (int me = 0; me < holders; ++me) {
    const TreePlan plan(holder_of_rank, me);
    covered += plan.root_range().count_of(kCount);
    for (const TreePlan::Leaf& leaf : plan.leaves()) leaves += leaf.ranks;
    int64_t sent = 0;
    for (const TreePlan::Step& step : plan.steps())
      for (int side : {0, 1}) {
        for (const TreePlan::Piece& piece : step.sides[side].gives) {
          const bool is_new =
              given
                  .emplace(std::tuple(me, piece.holder, step.level, side),
                           std::pair(piece.range.begin.of(kCount), piece.range.end.of(kCount)))
                  .second;
          CHECK(is_new);
          sent += piece.range.count_of(kCount);
        }
        for (const TreePlan::Piece& piece : step.sides[side].gets)
          CHECK(got.emplace(std::tuple(piece.holder, me, step.level, side),
                            std::pair(piece.range.begin.of(kCount), piece.range.end.of(kCount)))
                    .second);
      }
    most_sent = std::max(most_sent, sent);
  }
  CHECK(given == got);
  CHECK(covered == kCount);
  CHECK(leaves == ranks);
  // No rank sends much more than what any algorithm must.
  if (on_host == 1) CHECK(double(most_sent) < 1.1 * double(kCount));
}

namespace {

/// The errors of a group on `host_of_rank` in which `culprit` has a fault during `body`.
std::vector<std::string> errors_with(const std::vector<int>& host_of_rank, int culprit, Fault fault,
                                     const TcpOptions& options, const contract::Body& body) {
  const int ranks = int(host_of_rank.size());
  Stop stop(ranks - 1);
  const HostLayout layout(host_of_rank);
  std::vector<std::shared_ptr<Window>> windows;
  for (int host = 0; host < layout.hosts(); ++host) {
    const int members = int(layout.members(host).size());
    windows.push_back(members > 1 ? Window::in_process(members) : nullptr);
  }
  const auto make = [&](int) {
    std::vector<std::unique_ptr<Transport>> group;
    for (TcpMesh& mesh : make_meshes(ranks, 1, false)) {
      const int rank = mesh.rank;
      std::unique_ptr<GroupMessages> messages =
          std::make_unique<TcpMessages>(rank, std::move(mesh.flows), options.spin_seconds);
      if (rank == culprit)
        messages = std::make_unique<FaultyMessages>(std::move(messages), fault, stop);
      group.push_back(std::make_unique<HierarchicalTransport>(
          std::move(messages), host_of_rank, windows[size_t(layout.host_of(rank))], options));
    }
    return group;
  };
  const auto run = [&](Communicator& group) {
    try {
      body(group);
      for (int i = 0; i < 4; ++i) group.barrier();  // the fault happens by then
    } catch (const Error&) {
      if (group.rank() != culprit) stop.one_is_done();
      throw;
    }
    if (group.rank() != culprit) stop.one_is_done();
  };
  return contract::run_ranks(make, ranks, run, fault.kills ? 20 : 1.5);
}

std::vector<int> one_rank_a_host(int ranks) {
  std::vector<int> hosts(static_cast<size_t>(ranks));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

}  // namespace

TEST_CASE("a rank that ends or stops in any phase of an algorithm is named by all others",
          "[collective][tree]") {
  const bool kills = GENERATE(true, false);
  const int culprit = GENERATE(0, 11);
  const int at = GENERATE(1, 3, 8, 13);
  CAPTURE(kills, culprit, at);
  constexpr int64_t kCount = 9'000;
  const auto check = [&](const std::vector<int>& hosts, const TcpOptions& options,
                         const contract::Body& body) {
    const auto errors = errors_with(hosts, culprit, {.kills = kills, .at = at}, options, body);
    for (size_t r = 0; r < errors.size(); ++r)
      if (int(r) != culprit) CHECK_THAT(errors[r], Contains(str_cat("rank ", culprit, " ")));
  };
  const contract::Body all_reduce = [&](Communicator& group) {
    std::vector<float> data(kCount, 1.0f);
    group.all_reduce(data.data(), kCount, DType::Float32);
  };
  SECTION("recursive halving") { check(one_rank_a_host(18), large_only(2048), all_reduce); }
  SECTION("recursive doubling") { check(one_rank_a_host(18), small_only(), all_reduce); }
  SECTION("hosts of three ranks") {
    check(hierarchy::hosts_of({3}, 15), large_only(2048), all_reduce);
  }
  SECTION("reduce-scatter and all-gather") {
    check(one_rank_a_host(18), large_only(2048), [](Communicator& group) {
      const std::vector<int64_t> counts(18, 1'500);
      std::vector<float> data(size_t(total(counts)), 1.0f), mine(1'500);
      group.reduce_scatter(data.data(), mine.data(), counts, DType::Float32);
      group.all_gather(mine.data(), data.data(), counts, DType::Float32);
    });
  }
}
