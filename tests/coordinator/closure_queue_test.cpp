#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/metric_value.hpp>

#include <distribute/coordinator/detail/closure_queue.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace distribute;                        // NOLINT: tests only
using namespace distribute::coordinator_internal;  // NOLINT
using distribute::net::Deadline;
using distribute::testing::Latch;
using distribute::testing::wait_until;

namespace {

ClosurePtr closure(const std::string& label = "f") {
  auto made = std::make_shared<Closure>();
  made->label = label;
  return made;
}

std::exception_ptr boom(const std::string& what = "boom") {
  return std::make_exception_ptr(InvalidArgumentError(what));
}

void finish(ClosureQueue& queue, const ClosurePtr& one, const std::string& bytes = "") {
  one->output->set_bytes(bytes);
  queue.mark_finished(one);
}

void fail(ClosureQueue& queue, const ClosurePtr& one, const std::string& what = "boom") {
  one->output->set_error(boom(what));
  queue.mark_failed(boom(what), one);
}

void check_cancelled(const ClosurePtr& one) {
  check_throws<CancelledError>([&] { one->output->bytes(); }, "cancelled. Please reschedule");
}

}  // namespace

TEST_CASE("closures come out in the order they went in", "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto a = closure("a"), b = closure("b"), c = closure("c");
  for (const auto& one : {a, b, c}) queue.put(one);
  CHECK_FALSE(queue.done());
  CHECK(queue.get(0).closure == a);
  CHECK(queue.get(1).closure == b);
  CHECK(queue.get(0).closure == c);
  CHECK(queue.in_flight() == 3);
  for (int i = 0; i < 3; ++i) queue.mark_finished();
  CHECK(queue.done());
  CHECK(queue.wait());
  CHECK(queue.completed() == 3);
  CHECK_FALSE(queue.get(0, Deadline::after_seconds(0.01)).closure);
}

TEST_CASE("what is for one worker goes first, only to it, and is not counted",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto shared = closure("shared"), own = closure("own"), second = closure("second");
  queue.put(shared);
  queue.put_for(1, own);
  queue.put_for(1, second);
  const auto first = queue.get(1);
  CHECK(first.closure == own);
  CHECK(first.tagged);
  CHECK(queue.in_flight() == 0);
  queue.put_back_for(1, own);
  CHECK(queue.get(0).closure == shared);
  queue.mark_finished();
  CHECK(queue.done());
  CHECK(queue.get(1).closure == own);
  queue.drop_for(1);
  CHECK_FALSE(queue.get(1, Deadline::after_seconds(0.01)).closure);
}

TEST_CASE("a closure that was put back is run again, before the others",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto a = closure("a"), b = closure("b");
  queue.put(a);
  queue.put(b);
  const auto taken = queue.get(0).closure;
  queue.put_back(taken);
  CHECK_FALSE(queue.done());
  CHECK(queue.get(1).closure == a);
  CHECK(queue.get(1).closure == b);
  finish(queue, a, "1");
  finish(queue, b, "2");
  CHECK(queue.wait());
  CHECK(*a->output->bytes() == "1");
}

TEST_CASE("what has ended is known by the lowest number that has not",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  CHECK(queue.settled() == 1);
  std::vector<ClosurePtr> all;
  for (int i = 0; i < 5; ++i) queue.put(all.emplace_back(closure()));
  CHECK(queue.settled() == 1);
  for (int i = 0; i < 3; ++i) queue.get(i);  // numbers 1, 2, 3
  finish(queue, all[1]);
  CHECK(queue.settled() == 1);
  queue.put_back(all[0]);  // it will run again
  finish(queue, all[2]);
  CHECK(queue.settled() == 1);
  CHECK(queue.get(0).closure == all[0]);
  finish(queue, all[0]);
  CHECK(queue.settled() == 4);
  queue.get(0);
  fail(queue, all[3]);
  CHECK(queue.settled() == 5);
  check_throws<InvalidArgumentError>([&] { queue.wait(); }, "boom");  // cancels number 5
  queue.put(closure());
  CHECK(queue.get(0).closure->number == 6);
  CHECK(queue.settled() == 6);
}

TEST_CASE("put_back ignores the bound", "[coordinator][closure_queue]") {
  ClosureQueue queue(1);
  queue.put(closure());
  const auto taken = queue.get(0).closure;
  queue.put(closure());
  queue.put_back(taken);
  CHECK(queue.queued() == 2);
}

TEST_CASE("wait sees what ended before it was called", "[coordinator][closure_queue]") {
  ClosureQueue queue;
  queue.put(closure());
  queue.get(0);
  queue.mark_finished();
  CHECK(queue.wait(Deadline::after_seconds(10)));
  queue.put(closure());
  CHECK_FALSE(queue.wait(Deadline::after_seconds(0.01)));
}

TEST_CASE("wait throws the first error once, and cancels what is queued",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto bad = closure(), worse = closure(), queued = closure("queued");
  for (const auto& one : {bad, worse, queued}) queue.put(one);
  queue.get(0), queue.get(1);
  fail(queue, bad, "first");
  fail(queue, worse, "second");
  check_throws<InvalidArgumentError>([&] { queue.wait(); }, "first");
  check_cancelled(queued);
  CHECK(queue.wait());  // forgotten
  CHECK(queue.done());
  const auto next = closure();
  queue.put(next);
  CHECK(queue.get(0).closure == next);
  finish(queue, next);
  CHECK(queue.wait());
}

TEST_CASE("put and done throw the first error, too", "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const bool put = GENERATE(true, false);
  queue.put(closure());
  fail(queue, queue.get(0).closure);
  if (put)
    check_throws<InvalidArgumentError>([&] { queue.put(closure()); }, "boom");
  else
    check_throws<InvalidArgumentError>([&] { queue.done(); }, "boom");
  CHECK(queue.done());
  CHECK(queue.queued() == 0);
}

TEST_CASE("an error cancels what is in flight, and is thrown when nothing runs any more",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  Latch asked(1);
  queue.on_cancel([&] { asked.count_down(); });
  const auto bad = closure(), running = closure("running"), lost = closure("lost");
  for (const auto& one : {bad, running, lost}) queue.put(one);
  for (int worker = 0; worker < 3; ++worker) queue.get(worker);
  fail(queue, bad);
  std::atomic<bool> ended{false};
  std::thread worker([&] {
    asked.wait();
    CHECK(queue.cancelling());
    running->mark_cancelled();
    queue.mark_finished();
    ended = true;
    queue.put_back(lost);  // its worker died meanwhile
  });
  check_throws<InvalidArgumentError>([&] { queue.wait(); }, "boom");
  CHECK(ended);
  CHECK(queue.in_flight() == 0);
  CHECK(queue.queued() == 0);
  worker.join();
  check_cancelled(running);
  check_cancelled(lost);
  CHECK_FALSE(queue.cancelling());
}

TEST_CASE("a full queue blocks put until there is room, or an error",
          "[coordinator][closure_queue]") {
  ClosureQueue queue(2);
  const bool error = GENERATE(true, false);
  queue.put(closure());
  queue.put(closure());
  const auto first = queue.get(0).closure;
  queue.put(closure());
  std::atomic<bool> through{false};
  std::thread putter([&] {
    if (error)
      check_throws<InvalidArgumentError>([&] { queue.put(closure()); }, "boom");
    else
      queue.put(closure());
    through = true;
  });
  if (error) {
    fail(queue, first);
  } else {
    CHECK(queue.get(0).closure);
    wait_until([&] { return through.load(); }, "the put");
    CHECK(queue.queued() == 2);
  }
  putter.join();
  CHECK(through);
}

TEST_CASE("no thread can put while another waits", "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto first = closure();
  queue.put(first);
  queue.get(0);
  std::atomic<bool> waited{false}, put{false};
  std::thread waiter([&] {
    queue.wait();
    waited = true;
  });
  wait_until([&] { return queue.has_waiter(); }, "the wait");
  std::thread putter([&] {
    queue.put(closure());
    put = true;
  });
  CHECK_FALSE(queue.get(1, Deadline::after_seconds(0.05)).closure);
  CHECK_FALSE(put);
  finish(queue, first);
  waiter.join();
  putter.join();
  CHECK(waited);
  CHECK(queue.get(0).closure);
}

TEST_CASE("after break_for_good every call throws the same, and the queued fail with it",
          "[coordinator][closure_queue]") {
  ClosureQueue queue;
  const auto queued = closure();
  queue.put(queued);
  queue.break_for_good(std::make_exception_ptr(UnavailableError("ps 0 is lost")));
  queue.break_for_good(boom());
  for (int i = 0; i < 2; ++i) {
    check_throws<UnavailableError>([&] { queue.put(closure()); }, "ps 0 is lost");
    check_throws<UnavailableError>([&] { queue.wait(); }, "ps 0 is lost");
    check_throws<UnavailableError>([&] { queue.done(); }, "ps 0 is lost");
  }
  check_throws<UnavailableError>([&] { queued->output->bytes(); }, "ps 0 is lost");
}

TEST_CASE("stop ends all waits and cancels what is queued", "[coordinator][closure_queue]") {
  ClosureQueue queue(1);
  std::thread idle([&] {
    while (queue.get(3).closure) {
    }
  });
  const auto tagged = closure();
  queue.put_for(0, tagged);
  const auto queued = closure();
  queue.stop();
  idle.join();
  check_cancelled(tagged);
  check_throws<CancelledError>([&] { queue.put(queued); }, "the coordinator has stopped");
  CHECK(queue.wait());
  CHECK_THROWS_AS(ClosureQueue(0), InvalidArgumentError);
  CHECK_THROWS_AS(queue.mark_finished(), InternalError);
}

TEST_CASE("ten threads put, wait, fail and give back at once", "[coordinator][closure_queue]") {
  const int64_t capacity = GENERATE(2, 262144);
  ClosureQueue queue(capacity);
  std::atomic<int> run{0}, errors{0};
  std::vector<std::thread> workers, users;
  for (int worker = 0; worker < 4; ++worker)
    workers.emplace_back([&, worker] {
      int count = 0;
      while (const auto taken = queue.get(worker).closure) {
        ++count;
        if (taken->output->status() == RemoteValueStatus::NotReady && count % 5 == 0) {
          queue.put_back(taken);
        } else if (taken->label == "bad") {
          fail(queue, taken);
        } else {
          ++run;
          finish(queue, taken, "done");
        }
      }
    });
  std::vector<std::vector<ClosurePtr>> put(10);
  for (int user = 0; user < 10; ++user)
    users.emplace_back([&, user] {
      for (int op = 0; op < 20; ++op) {
        try {
          const auto one = closure(op == 7 ? "bad" : "good");
          queue.put(one);
          put[size_t(user)].push_back(one);
          if (op % 6 == 5) queue.wait();
          if (op % 4 == 3) queue.done();
        } catch (const InvalidArgumentError&) {
          ++errors;
        }
      }
    });
  for (auto& user : users) user.join();
  bool ended = false;
  while (!ended) {
    try {
      ended = queue.wait();
    } catch (const InvalidArgumentError&) {
      ++errors;
    }
  }
  CHECK(errors >= 1);
  CHECK(errors <= 10);
  CHECK(queue.in_flight() == 0);
  queue.stop();
  for (auto& worker : workers) worker.join();
  int ready = 0;
  for (const auto& closures : put)
    for (const auto& one : closures) {
      CHECK(one->output->status() != RemoteValueStatus::NotReady);
      ready += one->output->status() == RemoteValueStatus::Ready;
    }
  CHECK(ready <= run);
}

TEST_CASE("the queue's lengths and its results are counted", "[coordinator][closure_queue]") {
  const auto length = [](const char* queue) {
    return metric_value("distribute_queue_length", {queue});
  };
  const auto results = [](const char* result) {
    return metric_value("distribute_closures_total", {result});
  };
  const double queued = length("closures"), running = length("closures_in_flight");
  const double finished = results("finished"), failed = results("failed"),
               back = results("put_back");
  ClosureQueue queue;
  for (int i = 0; i < 4; ++i) queue.put(closure());
  CHECK(length("closures") == queued + 4);
  finish(queue, queue.get(0).closure);
  queue.put_back(queue.get(1).closure);
  const auto bad = queue.get(0).closure;
  CHECK(length("closures") == queued + 2);
  CHECK(length("closures_in_flight") == running + 1);
  fail(queue, bad);
  CHECK_THROWS_AS(queue.wait(), InvalidArgumentError);
  CHECK(length("closures") == queued);
  CHECK(length("closures_in_flight") == running);
  CHECK(results("finished") == finished + 1);
  CHECK(results("failed") == failed + 1);
  CHECK(results("put_back") == back + 1);
}
