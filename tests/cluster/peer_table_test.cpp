#include <distribute/cluster/detail/peer_table.hpp>
#include <distribute/cluster/detail/place_contest.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using cluster_internal::PeerDeparture;
using cluster_internal::PeerTable;
using cluster_internal::PlaceContest;
using std::chrono::milliseconds;
using Time = PeerTable::Time;

namespace {

/// Heartbeats every second, lost after 3 s.
ClusterOptions options() {
  ClusterOptions options;
  options.heartbeat_interval = 1;
  options.lost_after = 3;
  return options;
}

/// Judges every half second up to `end`, as an owner does that does not stand still.
std::vector<PeerDeparture> judge_until(PeerTable& table, Time& now, Time end) {
  std::vector<PeerDeparture> all;
  for (; now < end; now += milliseconds(500))
    for (const PeerDeparture& one : table.judge(now)) all.push_back(one);
  return all;
}

}  // namespace

TEST_CASE("a silent peer is lost once, one that is heard is not", "[cluster][peer_table]") {
  PeerTable table(options());
  Time now = net::Deadline::Clock::now();
  const Time begin = now;
  table.arrive(1, now);
  table.arrive(2, now);
  CHECK(judge_until(table, now, begin + milliseconds(2900)).empty());
  table.heard(2, now);
  table.heard(2, begin);  // an older word changes nothing
  const auto lost = judge_until(table, now, begin + milliseconds(5500));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].peer == 1);
  CHECK(lost[0].lost);
  CHECK(lost[0].reason == "it has been silent for 3 s (DISTRIBUTE_LOST_AFTER)");
  CHECK_FALSE(table.close(1, "closed"));
  table.arrive(1, now);  // it may come back
  CHECK(table.close(1, "closed")->reason == "closed");
}

TEST_CASE("a peer that leaves is no loss, whatever comes after", "[cluster][peer_table]") {
  PeerTable table(options());
  Time now = net::Deadline::Clock::now();
  table.arrive(1, now);
  table.arrive(2, now);
  table.leave(1, "it has finished");
  table.leave(7);  // one that is not watched
  CHECK_FALSE(table.close(7, "it crashed"));
  table.heard(2, now + milliseconds(8000));
  CHECK(judge_until(table, now, now + milliseconds(9000)).empty());
  const auto left = table.close(1, "it crashed");
  REQUIRE(left);
  CHECK_FALSE(left->lost);
  CHECK(left->reason == "it has finished");
  const auto closed = table.close(2, "it crashed");
  REQUIRE(closed);
  CHECK(closed->lost);
  CHECK(closed->reason == "it crashed");
}

TEST_CASE("silence does not count while this process stood still", "[cluster][peer_table]") {
  PeerTable table(options());
  Time now = net::Deadline::Clock::now();
  table.arrive(1, now);
  CHECK(table.judge(now).empty());
  now += milliseconds(60'000);
  CHECK(table.judge(now).empty());
  CHECK(table.standstill()->text(now).find("stood still for 60 s") != std::string::npos);
  CHECK(judge_until(table, now, now + milliseconds(4000)).size() == 1);
}

TEST_CASE("heartbeats keep their interval, and the next turn is the earlier event",
          "[cluster][peer_table]") {
  PeerTable table(options());
  const Time now = net::Deadline::Clock::now();
  CHECK(table.is_beat_due(now));
  CHECK_FALSE(table.is_beat_due(now + milliseconds(900)));
  CHECK(table.next_turn() == now + milliseconds(1000));
  table.arrive(1, now - milliseconds(2500));
  CHECK(table.next_turn() == now + milliseconds(501));
  table.leave(1);
  CHECK(table.next_turn() == now + milliseconds(1000));
  CHECK(table.is_beat_due(now + milliseconds(1000)));
}

TEST_CASE("a place is kept by the process that is heard twice since another wants it",
          "[cluster][peer_table]") {
  PlaceContest contest;
  const Time begin = net::Deadline::Clock::now();
  const auto at = [&](int ms) { return begin + milliseconds(ms); };
  CHECK_FALSE(contest.is_decided(7, at(-10), at(0)));
  CHECK_FALSE(contest.is_decided(7, at(50), at(100)));   // sent before it was frozen, read late
  CHECK_FALSE(contest.is_decided(7, at(50), at(5000)));  // it stays frozen
  CHECK(contest.is_decided(7, at(5100), at(5200)));
  CHECK_FALSE(contest.is_decided(7, at(5100), at(5300)));  // it may have ended since
  CHECK_FALSE(contest.is_decided(7, at(5350), at(5400)));
  CHECK_FALSE(contest.is_decided(8, at(5450), at(5500)));  // another newcomer
  CHECK_FALSE(contest.is_decided(8, at(5550), at(5600)));
  CHECK(contest.is_decided(8, at(5650), at(5700)));
}
