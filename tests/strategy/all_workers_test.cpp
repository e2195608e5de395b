#include <distribute/strategy/all_workers.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/thread_workers.hpp>

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
        if (w > 0) throw ResourceExhaustedError(concat("disk ", w, " is full"));
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
