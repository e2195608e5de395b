#include <distribute/base/process_state.hpp>

#include "support/catch.hpp"

using namespace distribute::base_internal;

namespace {

// Places that no folder has.
int& stays() { return in_thread_context<ContextPlace{15, 0}, int>(); }
std::vector<int>& goes_along() {
  return in_thread_context<ContextPlace{15, 1, true}, std::vector<int>>();
}

}  // namespace

TEST_CASE("every thread begins with values of its own", "[base][thread_context]") {
  stays() = 3;
  int other = -1;
  std::thread([&] { other = stays(); }).join();
  CHECK(other == 0);
  CHECK(stays() == 3);
  stays() = 0;
}

TEST_CASE("a scope puts a context in place of the thread's and restores it whole",
          "[base][thread_context]") {
  stays() = 3;
  goes_along() = {1, 2};
  {
    const ThreadContextScope scope{ThreadContext()};
    CHECK(stays() == 0);
    CHECK(goes_along().empty());
    stays() = 4;
    goes_along() = {5};
  }
  CHECK(stays() == 3);
  CHECK(goes_along() == std::vector<int>{1, 2});
  stays() = 0;
  goes_along().clear();
}

TEST_CASE("another thread takes over a copy of what goes along", "[base][thread_context]") {
  stays() = 3;
  goes_along() = {1, 2};
  ThreadContext context = ThreadContext::for_other_thread();
  int other = -1;
  std::vector<int> taken, after = {9};
  std::thread([&] {
    {
      const ThreadContextScope scope(std::move(context));
      other = stays();
      taken = goes_along();
      goes_along().push_back(7);
    }
    after = goes_along();
  }).join();
  CHECK(other == 0);
  CHECK(taken == std::vector<int>{1, 2});
  CHECK(after.empty());
  CHECK(goes_along() == std::vector<int>{1, 2});
  stays() = 0;
  goes_along().clear();
}
