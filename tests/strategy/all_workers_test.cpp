#include <distribute/strategy/detail/all_workers.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/thread_workers.hpp>

#include <chrono>
#include <thread>

using namespace distribute;
using strategy_internal::on_all_workers;

TEST_CASE("what every worker returns comes back in rank order", "[strategy][all_workers]") {
  const int workers = GENERATE(1, 2, 3, 5);
  run_clean(workers, 1, [&](Strategy& strategy, int w) {
    const auto all =
        on_all_workers(strategy.extended(), [&] { return std::string(size_t(w), 'x'); });
    require(int(all.size()) == workers, "the number of results");
    for (int i = 0; i < workers; ++i) require(all[size_t(i)] == std::string(size_t(i), 'x'), "one");
  });
}

TEST_CASE("the error of one worker is the error of all, and they can go on",
          "[strategy][all_workers]") {
  const auto errors = run_workers(3, 1, [](Strategy& strategy, int w) {
    try {
      on_all_workers(strategy.extended(), [&]() -> std::string {
        if (w > 0) throw ResourceExhaustedError(str_cat("disk ", w, " is full"));
        return "fine";
      });
      throw InternalError("nothing was thrown");
    } catch (const ResourceExhaustedError& error) {
      require(std::string(error.what()) == "rank 1 of 3: disk 1 is full", "the message");
    }
    require(strategy.extended().any_worker(w == 2), "an operation afterwards");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("alone, an error stays what it was", "[strategy][all_workers]") {
  struct Own {};
  auto& extended = get_strategy().extended();
  CHECK_THROWS_AS(on_all_workers(extended, []() -> std::string { throw Own(); }), Own);
  check_throws<NotFoundError>(
      [&] { on_all_workers(extended, []() -> std::string { throw NotFoundError("no"); }); }, "no");
  CHECK(on_all_workers(extended, [] { return std::string("-3 odd"); }) ==
        std::vector<std::string>{"-3 odd"});
}

TEST_CASE("an outcome comes back from its bytes, and damaged ones are an error",
          "[strategy][all_workers]") {
  using strategy_internal::WorkerOutcome;
  const std::string text("two\0words", 9);
  const WorkerOutcome failed = WorkerOutcome::failure(std::make_exception_ptr(NotFoundError(text)));
  const WorkerOutcome read = WorkerOutcome::from_bytes(failed.to_bytes());
  CHECK(read.code == StatusCode::NotFound);
  CHECK(read.text == NotFoundError(text).what());
  CHECK(WorkerOutcome::from_bytes(WorkerOutcome{StatusCode::Ok, text}.to_bytes()).text == text);
  const std::string bytes = failed.to_bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(WorkerOutcome::from_bytes(bytes.substr(0, size)), DataLossError);
  CHECK_THROWS_AS(WorkerOutcome::from_bytes(bytes + "x"), DataLossError);
}

TEST_CASE("work that takes longer than an operation may wait does not end the job",
          "[strategy][all_workers]") {
  const double timeout = 0.5;
  const auto slow = [](Strategy& strategy, int w) {
    strategy_internal::on_all_workers_for_long(strategy.extended(), [&] {
      if (w == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // a slow disk
      if (w == 2) throw ResourceExhaustedError("full");
      return std::string("done");
    });
  };
  for (const std::string& error : run_workers(2, 1, slow, {.timeout_seconds = timeout}))
    CHECK(error == "");
  for (const std::string& error : run_workers(3, 1, slow, {.timeout_seconds = timeout}))
    CHECK(error == "rank 2 of 3: full");
}

TEST_CASE("a worker that goes during long work of the others is noticed",
          "[strategy][all_workers]") {
  const auto errors = run_workers(2, 1, [](Strategy& strategy, int w) {
    if (w == 1) {
      const auto gone = std::make_exception_ptr(DataLossError("worker 1 has no data"));
      strategy.extended().report_failure(gone);
      return;
    }
    strategy_internal::on_all_workers_for_long(strategy.extended(), [] { return std::string(); });
  });
  CHECK_THAT(errors[0], Catch::Contains("worker 1 has no data"));
}
