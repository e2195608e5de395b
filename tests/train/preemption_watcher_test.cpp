#include <distribute/base/error.hpp>
#include <distribute/base/signals.hpp>
#include <distribute/train/preemption_watcher.hpp>

#include <tests/support/catch.hpp>

#include <csignal>

using namespace distribute;

TEST_CASE("a signal becomes a message that stays", "[train][preemption_watcher]") {
  PreemptionWatcher watcher({.signals = {SIGUSR1}});
  CHECK_FALSE(watcher.preemption_message());
  std::raise(SIGUSR1);
  CHECK(watcher.preemption_message().value().find("signal") != std::string::npos);
  CHECK(watcher.preemption_message());
}

TEST_CASE("a function may say that the process has to go", "[train][preemption_watcher]") {
  bool gone = false;
  PreemptionWatcher watcher({.termination_watcher_fn = [&] { return gone; }});
  CHECK_FALSE(watcher.preemption_message());
  gone = true;
  CHECK(watcher.preemption_message());
  gone = false;
  CHECK(watcher.preemption_message());  // a notice is not taken back
}

TEST_CASE("a signal that cannot be watched is refused", "[train][preemption_watcher]") {
  CHECK_THROWS_AS(PreemptionWatcher({.signals = {SIGKILL}}), InvalidArgumentError);
}
