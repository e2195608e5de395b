#include <tests/support/catch.hpp>
#include <tests/support/http_server.hpp>
#include <tests/support/run_program.hpp>

#include <tools/top_samples.hpp>

#include <nlohmann/json.hpp>

using namespace distribute_tools;
using Catch::Matchers::Matches;
using distribute::monitoring::parse_prometheus_text;

namespace {

/// What a worker says at this reading, each a second after the last.
std::string metrics_text(int reading, int index, bool is_first) {
  const auto number = [&](double value) { return std::to_string(value * reading) + "\n"; };
  std::string text =
      "# HELP distribute_train_steps_total Steps.\n# TYPE distribute_train_steps_total counter\n"
      "distribute_train_steps_total " +
      number(100) + "distribute_input_examples_total " + number(5'000) +
      "distribute_step_seconds_bucket{le=\"0.1\"} 7\n"
      "distribute_wait_seconds_total{for=\"collective\"} " +
      number(0.25) + "distribute_wait_seconds_total{for=\"input\"} " + number(0.5) +
      "distribute_cpu_throttled_seconds_total " + number(0.125) + "distribute_task_info{index=\"" +
      std::to_string(index) +
      "\",job=\"worker\"} 1\n"
      "distribute_train_loss 0.25\ndistribute_train_seconds_left 3723.5\n"
      "distribute_task_restarts 2\nprocess_resident_memory_bytes 150000000\n";
  if (is_first) text += "distribute_straggler_steps_total{worker=\"1\"} 17\n";
  return text;
}

/// A task's port, which wants the token.
struct FakeTask {
  int index;
  int answers = 1'000'000;  // and is gone afterwards
  std::atomic<int> readings{0};
  HttpServer server{[this](const HttpServerRequest& request) -> HttpServerReply {
    if (request.header("authorization") != "Bearer metrics-token") return {.status = 401};
    if (++readings > answers) return {.status = 503};
    return {.body = metrics_text(readings, index, index == 0)};
  }};
};

const std::string kToken = "DISTRIBUTE_METRICS_TOKEN=metrics-token";

}  // namespace

TEST_CASE("two readings of a task become a row of rates", "[tools][top]") {
  const MetricSample before = parse_prometheus_text(metrics_text(1, 0, true), 10);
  const MetricSample now = parse_prometheus_text(metrics_text(3, 0, true), 12);
  CHECK(before.values.count("distribute_step_seconds_bucket{le=\"0.1\"}") == 0);
  const TaskRow row = row_of("host-a:9100", before, now);
  CHECK(row.task == "worker 0");
  CHECK(row.step == 300);
  CHECK(row.images_per_second == 5'000);
  CHECK(row.communication_share == 0.25);
  CHECK(row.input_share == 0.5);
  CHECK(row.throttled_share == 0.125);
  CHECK(row.resident_bytes == 150e6);
  CHECK(row.restarts == 2);
  CHECK(row.loss == 0.25);
  CHECK(row.seconds_left == 3723.5);
  CHECK_THAT(table_of({row}), Matches("TASK +STEP +LOSS +ETA +IMAGES/s [^]*\nworker 0 +300 +0.25 "
                                      "+1:02:04 +5000 [^]*") &&
                                  !Contains("sum"));
}

TEST_CASE("what tasks have together is in a row of its own", "[tools][top]") {
  TaskRow a{.task = "worker 0", .address = "a:1"}, b{.task = "worker 1", .address = "b:1"};
  a.step = b.step = 300, a.images_per_second = 100, b.images_per_second = 50;
  a.resident_bytes = 2e6, b.resident_bytes = 3e6, b.late_steps = 4;
  TaskRow gone{.task = "worker 2", .address = "c:1", .reachable = false};
  const TaskRow all = sum_of({a, b, gone});
  CHECK(all.images_per_second == 150);
  CHECK(all.resident_bytes == 5e6);
  CHECK(all.late_steps == 4);  // of those that are known
  CHECK_FALSE(all.step);
  CHECK_FALSE(all.restarts);
  CHECK_THAT(table_of({a, b, gone}),
             Matches("[^]*\nworker 2 +gone [^]*\nsum +- +- +- +150 +- +- +4 +5 +- +-\n"));
  const auto json = nlohmann::json::parse(json_of({a, b, gone}, 1));
  CHECK(json.at("sum") == nlohmann::json::parse(R"({"images_per_second": 150.0, "late_steps": 4,
                                                    "resident_bytes": 5000000, "restarts": null})"));
}

TEST_CASE("tasks of a data service have columns of their own", "[tools][top]") {
  const auto reading = [](double number) {
    return parse_prometheus_text(
        "distribute_task_info{index=\"0\",job=\"data_worker\"} 1\n"
        "distribute_data_service_elements_total " +
            std::to_string(500 * number) + "\ndistribute_data_service_bytes_total " +
            std::to_string(3e6 * number) + "\n",
        number);
  };
  const TaskRow worker = row_of("a:1", reading(1), reading(3));
  CHECK(worker.task == "data_worker 0");
  CHECK(worker.served_per_second == 500);
  CHECK(worker.served_bytes_per_second == 3e6);
  const MetricSample now = parse_prometheus_text(
      "distribute_data_service_clients 2\n"
      "distribute_data_service_lost_workers_total 1\n",
      3);
  const TaskRow dispatcher = row_of("b:1", {}, now);
  CHECK_THAT(table_of({worker, dispatcher}),
             Matches("TASK [^]* SERVED/s +SENT MB/s +CLIENTS +LOST\ndata_worker 0 [^]* 500 +3 +- "
                     "+-\nb:1 [^]* - +- +2 +1\nsum [^]* 500 +3 +2 +1\n"));
  const auto json = nlohmann::json::parse(json_of({worker, dispatcher}, 1));
  CHECK(json.at("sum").at("lost_workers") == 1);
  CHECK(nlohmann::json::parse(json_of({TaskRow{}}, 1)).at("tasks")[0].count("clients") == 0);
}

TEST_CASE("a task that began anew, or is gone, has no rates", "[tools][top]") {
  const MetricSample before = parse_prometheus_text(metrics_text(5, 0, false), 10);
  const TaskRow anew = row_of("a:1", before, parse_prometheus_text(metrics_text(1, 0, false), 12));
  CHECK_FALSE(anew.images_per_second);
  const TaskRow gone = row_of("a:1", before, {});
  CHECK_FALSE(gone.reachable);
  CHECK(gone.task == "a:1");
  CHECK_THAT(table_of({anew, gone}), Contains("worker 0") && Contains("gone"));
}

TEST_CASE("256 tasks are a table of a few rows: gone and late ones by name, the others by job",
          "[tools][top]") {
  std::vector<TaskRow> rows;
  for (int i = 0; i < 256; ++i) {
    TaskRow& row = rows.emplace_back();
    row.task = (i < 8 ? "ps " : "worker ") + std::to_string(i < 8 ? i : i - 8);
    row.step = 100 + i % 2;
    if (i == 20) row.late_steps = 7;
    if (i == 30) row.late_steps = 9;
    if (i == 40 || i > 240) row.reachable = false;
  }
  const std::vector<TaskRow> few = folded(rows);
  REQUIRE(few.size() == 10 + 2 + 3);
  CHECK((few[0].task == "worker 32" && !few[0].reachable));
  CHECK((few[10].task == "worker 22" && few[11].task == "worker 12"));
  CHECK((few[12].task == "ps x 8" && few[12].step == 100.5));
  CHECK(few[13].task == "worker x 230");
  CHECK((few[14].task == "worker gone x 6" && !few[14].reachable));
  CHECK(folded({rows.begin(), rows.begin() + 32}).size() == 32);
}

TEST_CASE("top prints plain tables, and objects for scripts, of all tasks", "[tools][top]") {
  FakeTask first{0}, second{1};
  const std::vector<std::string> both{first.server.address(), second.server.address()};
  ProgramResult run =
      run_program("distribute", {"top", both[0], both[1], "--interval=0.05", "--count=2"}, kToken);
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out,
             Contains("TASK") && Contains("worker 0") && Contains("worker 1") && !Contains("\x1b"));
  run = run_program("distribute", {"top", both[0], both[1], "--interval=0.05", "--json"}, kToken);
  REQUIRE(run.status == 0);
  const auto tasks = nlohmann::json::parse(run.out).at("tasks");
  CHECK(tasks.at(1).at("task") == "worker 1");
  CHECK(tasks.at(1).at("late_steps") == 17);  // worker 0 says so
  CHECK(tasks.at(0).at("late_steps").is_null());
  CHECK(tasks.at(0).at("restarts") == 2);
  CHECK(tasks.at(0).at("restarts").is_number_integer());
  CHECK(tasks.at(0).at("resident_bytes") == 150'000'000);
  CHECK(tasks.at(0).at("images_per_second").get<double>() > 0);
  CHECK(tasks.at(0).at("loss") == 0.25);
}

TEST_CASE("top names a task that is gone", "[tools][top]") {
  FakeTask stays{0}, leaves{1, 2};
  const ProgramResult run = run_program(
      "distribute",
      {"top", stays.server.address(), leaves.server.address(), "--interval=0.05", "--count=3"},
      kToken);
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Matches("[^]*worker 1 +200 [^]*worker 1 +gone[^]*worker 1 +gone[^]*"));
}

TEST_CASE("top refuses what it cannot read, with one line", "[tools][top]") {
  FakeTask task{0};
  const auto check = [](const std::vector<std::string>& words, const std::string& environment,
                        int status, const std::string& text) {
    const ProgramResult run = run_program("distribute", words, environment);
    INFO(run.err);
    CHECK(run.status == status);
    CHECK_THAT(run.err, Contains(text));
  };
  check({"top"}, kToken, 2, "give HOST:PORT");
  check({"top", "localhost:9-3"}, kToken, 2, "HOST:FIRST-LAST");
  check({"top", "localhost:abc"}, kToken, 2, "wanted host:port");
  check({"top", "localhost:1", "--interval=0"}, kToken, 2, "--interval");
  check({"top", task.server.address()}, "DISTRIBUTE_METRICS_TOKEN=wrong", 1, "401");
  const std::string address = task.server.address();
  task.server.stop();
  check({"top", address, "--wait=0"}, kToken, 1, "Connection refused");
}
