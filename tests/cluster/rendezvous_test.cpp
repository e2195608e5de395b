#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/cluster/detail/rendezvous.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <map>

using namespace distribute::cluster_internal;
namespace net = distribute::net;
using distribute::StatusCode;
using std::chrono::seconds;

namespace {

/// A leader's store with three ranks; answers are kept by rank.
struct Leader {
  Rendezvous::Time now{};
  std::map<int, std::vector<ControlMessage>> answers;
  Rendezvous rendezvous{{"w0", "w1", "w2"}, 1000, [this](int rank, const ControlMessage& reply) {
                          answers[rank].push_back(reply);
                        }};
  uint64_t last = 0;

  void ask(int rank, ControlType type, const std::string& name, const std::string& value = "",
           seconds wait = seconds(5)) {
    ControlMessage request{.type = type, .request = ++last, .name = name, .value = value};
    request.times[0] = std::chrono::nanoseconds(wait).count();
    rendezvous.handle(rank, request, now);
  }
  ControlMessage answer(int rank) {
    REQUIRE(!answers[rank].empty());
    const ControlMessage first = answers[rank].front();
    answers[rank].erase(answers[rank].begin());
    return first;
  }
};

}  // namespace

TEST_CASE("the store answers waiting getters when the key comes", "[cluster][rendezvous]") {
  Leader leader;
  leader.ask(1, ControlType::Get, "k");
  CHECK(leader.answers.empty());
  leader.ask(2, ControlType::Set, "k", "v");
  CHECK(leader.answer(1).value == "v");
  CHECK(leader.answer(2).code == 0);
  leader.ask(0, ControlType::Get, "k");
  CHECK(leader.answer(0).value == "v");
  CHECK(leader.rendezvous.next_expiry() == Rendezvous::Time::max());
}

TEST_CASE("a gather that one rank gives up can still become complete", "[cluster][rendezvous]") {
  Leader leader;
  leader.ask(0, ControlType::Gather, "g", "a", seconds(1));
  leader.ask(1, ControlType::Gather, "g", "b", seconds(9));
  CHECK(leader.rendezvous.next_expiry() == leader.now + seconds(1));
  leader.now += seconds(2);
  leader.rendezvous.expire(leader.now);
  const ControlMessage late = leader.answer(0);
  CHECK(late.code == int(StatusCode::DeadlineExceeded));
  CHECK(late.name == "\"g\": still waiting for w2");
  leader.ask(2, ControlType::Gather, "g", "c");
  CHECK(leader.answers[1].empty());
  leader.ask(0, ControlType::Gather, "g", "A");
  for (int rank = 0; rank < 3; ++rank)
    CHECK(*net::parse_message<GatheredTexts>(leader.answer(rank).value, "texts") ==
          std::vector<std::string>{"A", "b", "c"});
}

TEST_CASE("a rank that calls twice, or has left, cannot block the others",
          "[cluster][rendezvous]") {
  Leader leader;
  leader.ask(0, ControlType::Gather, "g");
  leader.ask(0, ControlType::Gather, "g");
  CHECK(contains(leader.answer(0).name, "w0 has called it twice"));
  leader.rendezvous.has_left(2);
  CHECK(contains(leader.answer(0).name, "can never be complete: w2 has left the job"));
  leader.ask(1, ControlType::Gather, "h");
  CHECK(leader.answer(1).code == int(StatusCode::FailedPrecondition));
}

TEST_CASE("a gather that is too long is refused for all", "[cluster][rendezvous]") {
  Leader leader;
  for (int rank = 0; rank < 3; ++rank)
    leader.ask(rank, ControlType::Gather, "g", std::string(400, 'x'));
  for (int rank = 0; rank < 3; ++rank) {
    const ControlMessage reply = leader.answer(rank);
    CHECK(reply.code == int(StatusCode::ResourceExhausted));
    CHECK(contains(reply.name, "1216 bytes together"));
  }
}

TEST_CASE("absurd waiting times do no harm", "[cluster][rendezvous]") {
  Leader leader;
  ControlMessage request{.type = ControlType::Get, .request = 1, .name = "k"};
  for (const int64_t wait : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
    request.times[0] = wait;
    leader.rendezvous.handle(1, request, net::Deadline::Clock::now());
  }
  leader.rendezvous.expire(net::Deadline::Clock::now() + seconds(1));
  CHECK(leader.answers[1].size() == 2);
}

TEST_CASE("control messages survive the wire, and damage is refused",
          "[cluster][control_message]") {
  const ControlMessage message{.type = ControlType::Echo,
                               .request = 77,
                               .rank = -3,
                               .code = 14,
                               .times = {-1, 2, INT64_MAX},
                               .name = "name",
                               .value = std::string("a\0b", 3)};
  const std::string bytes = message.encode();
  const std::string payload = bytes.substr(16);
  const auto same = parse_control_message({uint16_t(ControlType::Echo), payload});
  REQUIRE(same.ok());
  CHECK(same->encode() == bytes);
  for (size_t cut = 0; cut < payload.size(); ++cut)
    CHECK_FALSE(parse_control_message({uint16_t(ControlType::Echo), payload.substr(0, cut)}).ok());
  CHECK_FALSE(parse_control_message({uint16_t(ControlType::Echo), payload + "x"}).ok());
  CHECK_FALSE(parse_control_message({3, payload}).ok());
  CHECK_FALSE(parse_control_message({99, payload}).ok());
  const std::vector<JoinedMember> members{{"a:1", 5, "host"}, {"", 0, ""}};
  const std::string list = net::encode_message(members);
  CHECK(net::parse_message<JoinedMembers>(list, "members")->at(0).incarnation == 5);
  CHECK_FALSE(net::parse_message<JoinedMembers>(list + "x", "members").ok());
  CHECK_FALSE(net::parse_message<GatheredTexts>("\x05", "texts").ok());
}

TEST_CASE("progress boards exchange what has changed", "[cluster][progress_board]") {
  ProgressBoard leader(3), member(3);
  uint64_t seen = 0;
  leader.set(0, "a");
  leader.set(2, std::string(5000, 'x'));
  member.apply(leader.changes(seen));
  CHECK(member.texts() == leader.texts());
  CHECK(member.texts()[2].size() == kProgressBytes);
  CHECK(leader.changes(seen).empty());
  leader.set(0, "a");
  CHECK(leader.changes(seen).empty());
  leader.set(0, "b");
  const std::string changes = leader.changes(seen);
  CHECK(changes.size() == 4 + 4 + 4 + 1);
  const std::vector<ProgressChange> no_such_rank{{3, "x"}};
  member.apply(net::encode_message(no_such_rank));
  member.apply("\xff\xff\xff\xff\x01");
  member.apply(changes);
  CHECK(member.texts()[0] == "b");
}
