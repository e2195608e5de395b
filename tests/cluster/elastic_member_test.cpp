#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/cluster/detail/elastic_message.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/check_throws.hpp>

#include <future>
#include <optional>

namespace net = distribute::net;
using distribute::ElasticGeneration;
using distribute::ElasticLimits;
using distribute::ElasticMember;
using distribute::ElasticState;
using namespace distribute::cluster_internal;

namespace {

/// Workers 0 to count - 1 with ports from the system.
class Workers {
 public:
  Workers(int count, ElasticLimits limits) : limits_(limits) {
    for (int i = 0; i < count; ++i) {
      listeners_.push_back(local_listener());
      tasks_.members.push_back({"worker", i, listeners_.back().address().text()});
    }
    members_.resize(size_t(count));
  }
  /// Also again, on the port of before.
  ElasticMember& start(int index, const std::string& agreement = "{}") {
    ClusterTasks tasks = tasks_;
    tasks.rank = index;
    return *(members_[size_t(index)] =
                 std::make_unique<ElasticMember>(tasks, limits_, quick_options(), agreement,
                                                 std::exchange(listeners_[size_t(index)], {})));
  }
  ElasticMember& operator[](int index) { return *members_[size_t(index)]; }
  void stop(int index) { members_[size_t(index)].reset(); }
  std::future<std::optional<ElasticGeneration>> meet(int index, ElasticState state = {},
                                                     std::vector<int> lost = {}) {
    return std::async(std::launch::async,
                      [this, index, state, lost] { return (*this)[index].meet(state, lost); });
  }

 private:
  ElasticLimits limits_;
  ClusterTasks tasks_;
  std::vector<distribute::net::Listener> listeners_;
  std::vector<std::unique_ptr<ElasticMember>> members_;
};

std::string names(const std::optional<ElasticGeneration>& generation) {
  std::string text;
  for (const auto& member : generation.value().tasks.members) text += std::to_string(member.index);
  return text;
}

}  // namespace

TEST_CASE("workers that start together form one generation in the order of the list",
          "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 3, .max_workers = 3});
  for (int i = 0; i < 3; ++i) workers.start(i);
  auto second = workers.meet(1), third = workers.meet(2), first = workers.meet(0);
  const auto a = first.get(), b = second.get(), c = third.get();
  for (const auto* one : {&a, &b, &c}) {
    CHECK(names(*one) == "012");
    CHECK((*one)->number == 1);
    CHECK((*one)->source == 0);
    CHECK((*one)->current == std::vector<bool>{true, false, false});
  }
  CHECK(a->tasks.rank == 0);
  CHECK(c->tasks.rank == 2);
}

TEST_CASE("survivors meet without the one that is gone, and a lower one joins them later",
          "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 2, .max_workers = 3, .last_call = 20});
  for (int i = 0; i < 3; ++i) workers.start(i);
  {
    auto a = workers.meet(0), b = workers.meet(1), c = workers.meet(2);
    a.get(), b.get(), c.get();
  }
  workers.stop(0);  // the one that led
  auto b = workers.meet(1, {1, 40}, {0}), c = workers.meet(2, {1, 41});
  const auto second = b.get();
  CHECK(names(second) == "12");
  CHECK(second->number == 2);
  CHECK(second->source == 1);  // has made a step more
  CHECK(second->state == ElasticState{1, 41});
  CHECK(names(c.get()) == "12");
  CHECK_FALSE(workers[1].has_waiting_worker());

  workers.start(0);
  auto a = workers.meet(0);
  const Deadline deadline = Deadline::after_seconds(10);
  while (!workers[1].has_waiting_worker() && !deadline.passed()) std::this_thread::yield();
  REQUIRE(workers[1].has_waiting_worker());
  CHECK_FALSE(workers[2].has_waiting_worker());
  b = workers.meet(1, {2, 50}), c = workers.meet(2, {2, 50});
  const auto third = a.get();
  CHECK(names(third) == "012");
  CHECK(third->number == 3);
  CHECK(third->tasks.rank == 0);
  CHECK(third->source == 1);
  CHECK(third->current == std::vector<bool>{false, true, true});
  b.get(), c.get();
}

TEST_CASE("a worker that withdraws is not waited for", "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 2, .max_workers = 3, .last_call = 30});
  for (int i = 0; i < 3; ++i) workers.start(i);
  {
    auto a = workers.meet(0), b = workers.meet(1), c = workers.meet(2);
    a.get(), b.get(), c.get();
  }
  workers[2].withdraw();
  auto a = workers.meet(0, {1, 7}), b = workers.meet(1, {1, 7});
  CHECK(names(a.get()) == "01");
  b.get();
}

TEST_CASE("a worker with other options is refused with the difference", "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 2, .max_workers = 3, .last_call = 0.2});
  workers.start(0, R"({"batch_size": 30})");
  workers.start(1, R"({"batch_size": 30})");
  workers.start(2, R"({"batch_size": 60})");
  auto a = workers.meet(0), b = workers.meet(1);
  try {
    workers.meet(2).get();
    FAIL("it did not throw");
  } catch (const distribute::FailedPreconditionError& error) {
    const std::string text = error.what();  // compared with whichever worker it reached first
    const int other = text.find("in worker 0") != std::string::npos ? 0 : 1;
    CHECK(text ==
          distribute::str_cat("this worker was started with other options than the job has: "
                              "/batch_size differs: 30 in worker ",
                              other, "; 60 in worker 2"));
  }
  CHECK(names(a.get()) == "01");
  CHECK(names(b.get()) == "01");
}

TEST_CASE("too few workers are an error that names the missing ones", "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 2, .max_workers = 3, .timeout = 0.3, .last_call = 0.1});
  workers.start(1);
  for (int i : {0, 2}) workers.start(i), workers.stop(i);
  try {
    workers.meet(1).get();
    FAIL("it did not throw");
  } catch (const distribute::UnavailableError& error) {
    const std::string text = error.what();
    CHECK(text.find("there are 1 workers, at least 2 are needed") != std::string::npos);
    CHECK(text.find("worker 0 (127.0.0.1:") != std::string::npos);
    CHECK(text.find("worker 2 (127.0.0.1:") != std::string::npos);
  }
}

TEST_CASE("who comes when the job has finished is told so", "[cluster][elastic]") {
  Workers workers(3, {.min_workers = 2, .max_workers = 3, .last_call = 0.1});
  workers.start(0), workers.start(1);
  auto a = workers.meet(0), b = workers.meet(1);
  a.get(), b.get();
  workers[0].finish();
  workers.start(2);
  CHECK_FALSE(workers.meet(2).get().has_value());
}

TEST_CASE("where there is not room for all, those with the newest state come first",
          "[cluster][elastic]") {
  const MeetRequest fresh{.state = {0, 0}, .seen = 0}, late{.state = {3, 10}, .seen = 5},
      newest{.state = {4, 9}, .seen = 4};
  const auto result = choose_members({{2, newest}, {0, fresh}, {3, newest}, {1, late}}, 3);
  CHECK(result.members == std::vector<int>{1, 2, 3});
  CHECK(result.current == std::vector<bool>{false, true, true});
  CHECK(result.state == ElasticState{4, 9});
  CHECK(result.number == 6);
}

TEST_CASE("damaged meeting messages are refused", "[cluster][elastic]") {
  const std::string request =
      net::encode_message(MeetRequest{.state = {1, 2}, .seen = 3, .options = 4});
  CHECK(net::parse_message<MeetRequest>(request, "request")->options == 4);
  CHECK_FALSE(net::parse_message<MeetRequest>(request.substr(1), "request").ok());
  const std::string result = net::encode_message(MeetResult{2, {0, 2}, {1, 5}, {true, false}});
  CHECK(parse_result(result, 3)->members == std::vector<int>{0, 2});
  CHECK_FALSE(parse_result(result, 2).ok());
  CHECK_FALSE(parse_result(result + "x", 3).ok());
}

TEST_CASE("limits that make no job are refused", "[cluster][elastic]") {
  const auto start = [](ElasticLimits limits) { Workers(2, limits).start(0); };
  CHECK_THROWS_AS(start({.min_workers = 0, .max_workers = 2}), distribute::InvalidArgumentError);
  CHECK_THROWS_AS(start({.min_workers = 2, .max_workers = 1}), distribute::InvalidArgumentError);
  CHECK_THROWS_AS(start({.min_workers = 1, .max_workers = 3}), distribute::InvalidArgumentError);
}

TEST_CASE("an elastic worker waits for its own name and says so", "[cluster][elastic]") {
  LogLines lines;
  ClusterOptions options = quick_options();
  options.job_token = "the token of this test";
  options.startup_timeout = 0.4;
  options.report_interval = 0.05;
  options.log = lines.sink();
  const ClusterTasks tasks{{{"worker", 0, "pod-0.unknown.invalid:2222"}}, 0};
  check_throws<distribute::UnavailableError>(
      [&] { ElasticMember(tasks, {.min_workers = 1, .max_workers = 1}, options, "{}"); },
      "\"pod-0.unknown.invalid\" is not known");
  CHECK(lines.text().find("worker 0 waits for its own name") != std::string::npos);
}

TEST_CASE("an elastic worker with a loopback address among other hosts is refused before it waits",
          "[cluster][elastic]") {
  ClusterTasks tasks;
  tasks.members = {{"worker", 0, "localhost:1"}, {"worker", 1, "192.0.2.7:1"}};
  check_throws<distribute::InvalidArgumentError>(
      [&] { ElasticMember(tasks, {.min_workers = 1, .max_workers = 2}, quick_options(), "{}"); },
      "worker 0 (localhost:1) has a loopback address, so worker 1 (192.0.2.7:1), which is on "
      "another host (192.0.2.7)");
}
