#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/cluster/detail/progress_board.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/played_members.hpp>

#include <array>

using namespace distribute;
using namespace distribute::cluster_internal;
using Catch::Matchers::Contains;

namespace {

constexpr int kTasks = 64;
constexpr const char* kToken = "the token of the members that are played";

/// A leader on a thread of its own, and 63 members that the test plays.
struct PlayedJob {
  PlayedJob() {
    tasks.members.push_back({"worker", 0, listener.address().text()});
    for (int i = 1; i < kTasks; ++i)
      tasks.members.push_back({"worker", i, "127.1.0." + std::to_string(i) + ":2222"});
    ClusterOptions options = quick_options();
    options.job_token = kToken;
    options.tls = false;
    options.heartbeat_interval = 0.1;
    starting = std::thread([this, options] {
      error = error_of([&] { leader = ClusterRuntime::join(tasks, options, std::move(listener)); });
    });
    members = std::make_unique<PlayedMembers>(tasks, kToken,
                                              [this](int rank, const ControlMessage& message) {
                                                if (message.type == ControlType::Start) ++started;
                                                if (message.type == ControlType::Reply)
                                                  replies.push_back(message.value);
                                                if (message.type == ControlType::Failed)
                                                  failed.emplace_back(rank, message);
                                                if (message.type == ControlType::Echo)
                                                  echoes.push_back(message.value);
                                              });
    members->progress = [](int rank, int64_t beat) {
      return std::string(rank == 40 ? "in barrier #7" : "in all_reduce(sum) #7 float32 x 1000") +
             " for " + std::to_string(beat % 1000) + " s";
    };
  }
  ~PlayedJob() {
    if (starting.joinable()) starting.join();
  }
  bool serve(const std::function<bool()>& done) {
    return members->serve(done, Deadline::after_seconds(120), 0.1);
  }
  void join() {
    members->join(Deadline::after_seconds(120));
    REQUIRE(serve([this] { return started == kTasks - 1; }));
    starting.join();
    REQUIRE(error == "");
  }

  distribute::net::Listener listener = local_listener();
  ClusterTasks tasks;
  std::shared_ptr<ClusterRuntime> leader;
  std::string error;
  std::thread starting;
  std::unique_ptr<PlayedMembers> members;
  int started = 0;
  std::vector<std::string> replies, echoes;
  std::vector<std::pair<int, ControlMessage>> failed;
};

}  // namespace

TEST_CASE("64 members join, agree, and get few bytes with a heartbeat", "[cluster][many_members]") {
  PlayedJob job;
  job.join();
  const std::string text = canonical_json(R"({"a": 1})");
  const std::string digest = net::encode_message(
      std::array<uint64_t, 3>{text.size(), fnv1a(text), fnv1a(text, 0x9e3779b97f4a7c15u)});
  std::thread agreeing([&] { job.error = error_of([&] { job.leader->agree("x", text); }); });
  job.members->send_all({.type = ControlType::Gather,
                         .request = 1,
                         .code = 1,
                         .times = {20'000'000'000, 0, 0},
                         .name = "agree digest x",
                         .value = digest});
  CHECK(job.serve([&] { return job.replies.size() == kTasks - 1; }));
  agreeing.join();
  CHECK(job.error == "");
  for (const std::string& reply : job.replies) CHECK(reply == kAllEqual);
  const size_t before = job.echoes.size();
  CHECK(job.serve([&] { return job.echoes.size() > before + 3 * kTasks; }));
  for (const std::string& echo : job.echoes) CHECK(echo.empty());
}

TEST_CASE("a member of 64 that asks gets groups of tasks, the odd ones first",
          "[cluster][many_members]") {
  PlayedJob job;
  job.join();
  const size_t before = job.echoes.size();
  REQUIRE(job.serve([&] { return job.echoes.size() > before + 2 * kTasks; }));
  job.echoes.clear();
  job.members->send(9, {.type = ControlType::Heartbeat,
                        .code = 1,
                        .value = "in all_reduce(sum) #7 float32 x 1000 for 1 s"});
  std::string groups;
  REQUIRE(job.serve([&] {
    for (const std::string& echo : job.echoes) groups += echo;
    job.echoes.clear();
    return !groups.empty();
  }));
  const auto parsed = net::parse_message<std::vector<ProgressGroup>>(groups, "groups");
  REQUIRE(parsed.ok());
  REQUIRE(parsed->size() == 3);
  CHECK((*parsed)[0].place == "");  // the leader, which does nothing
  CHECK((*parsed)[1].place == "in barrier #7");
  CHECK((*parsed)[1].ranks == std::vector<uint32_t>{40});
  CHECK((*parsed)[2].tasks == kTasks - 2);
  CHECK(job.leader->progress_groups().size() == 3);
}

TEST_CASE("a frozen member of 64 is told to all with the places of the others",
          "[cluster][many_members]") {
  PlayedJob job;
  job.join();
  job.members->freeze(40);
  CHECK(job.serve([&] { return job.failed.size() >= kTasks - 2; }));
  for (const auto& [rank, message] : job.failed) {
    CHECK(message.rank == 40);
    CHECK_THAT(message.name, Contains("worker 40 (127.1.0.40:2222) is lost: it has been silent"));
    const auto groups = net::parse_message<std::vector<ProgressGroup>>(message.value, "groups");
    REQUIRE(groups.ok());
    CHECK(!groups->empty());
  }
}

TEST_CASE("positions become groups by place, at most twenty", "[cluster][many_members]") {
  std::vector<std::string> positions(100, "in all_reduce(sum) #12 float32 x 9 for 3 s");
  positions[7] = "in barrier #12 for 9 s";
  positions[8] = "";
  positions[50] = "in barrier #12 for 1 s";
  const auto groups = group_progress(positions);
  REQUIRE(groups.size() == 3);
  CHECK((groups[0].place == "" && groups[0].tasks == 1));
  CHECK((groups[1].place == "in barrier #12" && groups[1].ranks == std::vector<uint32_t>{7, 50}));
  CHECK(groups[2].tasks == 97);
  CHECK(groups[2].ranks == std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 9, 10, 11});
  const auto name = [](int rank) { return "w" + std::to_string(rank); };
  CHECK(names_of(groups[2], name) == "w0, w1, w2 and 94 more");
  CHECK(names_of(groups[1], name) == "w7, w50");

  for (size_t i = 0; i < 60; ++i) positions[i] = "in barrier #" + std::to_string(i) + " for 1 s";
  const auto most = group_progress(positions);
  REQUIRE(most.size() == 20);
  CHECK(most[18].place == "in other places");
  uint32_t tasks = 0;
  for (const ProgressGroup& group : most) tasks += group.tasks;
  CHECK(tasks == 100);
  CHECK(most[19].tasks == 40);
}
