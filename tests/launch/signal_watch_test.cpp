#include <distribute/launch/detail/signal_watch.hpp>

#include <tests/support/catch.hpp>

#include <csignal>

#include <poll.h>

using namespace distribute::launch;

TEST_CASE("signals can be read while they are watched", "[launch][signal_watch]") {
  const SignalWatch watch({SIGUSR1, SIGTERM});
  CHECK(watch.next() == 0);
  std::raise(SIGTERM);
  pollfd entry{watch.native(), POLLIN, 0};
  CHECK(::poll(&entry, 1, 10'000) == 1);
  CHECK(watch.next() == SIGTERM);
  CHECK(watch.next() == 0);
}

TEST_CASE("an unread signal does not strike afterwards", "[launch][signal_watch]") {
  {
    const SignalWatch watch({SIGTERM});
    std::raise(SIGTERM);
  }
  SUCCEED("still here");
}

TEST_CASE("an ignored signal stays ignored", "[launch][signal_watch]") {
  std::signal(SIGHUP, SIG_IGN);
  {
    const SignalWatch watch({SIGHUP});
    std::raise(SIGHUP);
    CHECK(watch.next() == 0);
  }
  std::signal(SIGHUP, SIG_DFL);
}
