#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using Catch::Contains;

namespace {

ReplicaContext& here() { return *get_replica_context(); }
int id_here() { return here().replica_id_in_sync_group(); }

}  // namespace

TEST_CASE("exit() in a replica ends the process with its status, though a static strategy waits",
          "[strategy][replica_group]") {
  const int leaving = GENERATE(0, 1);  // 0 is the thread that called run
  std::fflush(nullptr);                // else the child prints it again
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    static MirroredStrategy strategy({.num_replicas = 3});
    strategy.run([] {});
    strategy.run([&] {
      if (id_here() == leaving) std::exit(7);
      here().merge_call([](Strategy&, const PerReplica<int>&) {}, 0);  // never all of them
    });
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("merge_call runs once with every replica's argument and hands the parts back (case 8)",
          "[strategy][replica_group]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  std::atomic<int> merges{0};
  const auto sums = strategy.run([&] {
    return here().merge_call(
        [&](Strategy&, const PerReplica<int>& ids, const PerReplica<std::string>& names) {
          ++merges;
          int sum = 0;
          for (int id : ids.values()) sum += id;
          CHECK(names.size() == size_t(n));
          return sum;
        },
        id_here(), std::string("x"));
  });
  CHECK(merges == 1);
  CHECK(sums.values() == std::vector<int>(size_t(n), n * (n - 1) / 2));
  const auto parts = strategy.run([] {
    return here().merge_call([](Strategy&, const PerReplica<int>& ids) { return ids; },
                             10 * id_here());
  });
  CHECK(parts[size_t(n - 1)] == 10 * (n - 1));
}

TEST_CASE("merge functions run on one thread, whichever replica comes last",
          "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 3});
  strategy.run([&, caller = std::this_thread::get_id()] {
    for (int i = 0; i < 50; ++i)
      here().merge_call([&](Strategy&) { CHECK(std::this_thread::get_id() == caller); });
  });
}

TEST_CASE("an exception of a replica reaches the caller, and the strategy goes on (case 12)",
          "[strategy][replica_group]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const int culprit = GENERATE_COPY(0, n - 1);
  CHECK_THROWS_WITH(strategy.run([&] {
    if (id_here() == culprit) throw std::runtime_error("replica broke");
    here().all_reduce(ReduceOp::Sum, Tensor(1.0f));  // waits for the other replica
  }),
                    "replica broke");
  CHECK(strategy.run(id_here).size() == size_t(n));
}

TEST_CASE("an exception of a merge function reaches the caller (case 12)",
          "[strategy][replica_group]") {
  const int n = GENERATE(1, 2, 4);
  MirroredStrategy strategy({.num_replicas = n});
  std::atomic<int> aborted{0};
  CHECK_THROWS_WITH(strategy.run([&] {
    try {
      here().merge_call([](Strategy&) { throw std::runtime_error("merge broke"); });
    } catch (const AbortedError&) {
      ++aborted;
      throw;
    }
  }),
                    "merge broke");
  CHECK(aborted == n - 1);
  CHECK_THROWS_WITH(strategy.run([] {
    here().merge_call([](Strategy&) {});
    throw std::runtime_error("after the merge");
  }),
                    "after the merge");
  CHECK(strategy.run(id_here).size() == size_t(n));
}

TEST_CASE("replicas that merge unequally often are told", "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const int more = GENERATE(0, 1);
  const auto run = [&] {
    strategy.run([&] {
      here().merge_call([](Strategy&) {});
      if (id_here() == more) here().merge_call([](Strategy&) {});
    });
  };
  for (int i = 0; i < 20; ++i)
    CHECK_THROWS_WITH(run(), Contains("Some replicas made a different number of "
                                      "replica_context().merge_call() calls"));
  CHECK_THROWS_AS(run(), FailedPreconditionError);
}

TEST_CASE("a replica that does not come is named after 10 s", "[strategy][replica_group]") {
  const bool meets = GENERATE(true, false);
  const CaughtLog log;
  MirroredStrategy strategy({.num_replicas = 3});
  std::atomic<bool> late{true};
  std::thread clock([&] {  // the first line ends the wait
    testing::wait_until([&] { return log.has_lines(); }, "the line", 60);
    late = false;
    late.notify_all();
  });
  strategy.run([&] {
    here().merge_call([](Strategy&) {});
    if (id_here() == 1) late.wait(true);
    if (meets) here().merge_call([](Strategy&) {});
  });
  clock.join();
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0],
             Contains("replica 0, replica 2 have waited for 1") &&
                 Contains(meets ? " s in 'merge_call', meeting 2 of this run; not there: "
                                  "replica 1 (after 1 meeting)"
                                : " s for the end of this run; not there: replica 1 (after 1 "
                                  "meeting)"));
}

TEST_CASE("replicas that make different calls are told which", "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CHECK_THROWS_WITH(strategy.run([] {
    if (id_here() == 0)
      here().all_reduce(ReduceOp::Sum, Tensor(1.0f));
    else
      here().all_gather(Tensor{1.0f}, 0);
  }),
                    Contains("replica 0 called all_reduce, replica 1 called all_gather"));
}

TEST_CASE("replicas that reduce different shapes are shown both", "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CHECK_THROWS_WITH(strategy.run([] { here().all_reduce(ReduceOp::Sum, ones({2 + id_here()})); }),
                    Contains("[2]") && Contains("[3]"));
}

TEST_CASE("a context used by another thread is refused", "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  std::vector<ReplicaContext*> contexts(2);
  strategy.run([&] { contexts[size_t(id_here())] = get_replica_context(); });
  CHECK_THROWS_WITH(contexts[0]->merge_call([](Strategy&) {}), Contains("Mismatching"));
  const auto scope = strategy.scope();
  CHECK_THROWS_WITH(contexts[0]->merge_call([](Strategy&) {}),
                    Contains("Need to be inside `call_for_each_replica()`"));
}

TEST_CASE("a merge function may train in another run, and catch its error",
          "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable weight(Tensor{1.0f, 2.0f});
  optim::SGD optimizer({.learning_rate = 0.5});
  const auto step = [&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(weight.value() * float(id_here() + 1));
    optimizer.minimize(loss, {weight}, tape);
  };
  bool caught = false;
  const auto sums = strategy.run([&] {
    step();
    here().merge_call([&](Strategy& merged) {
      merged.run(step);
      try {
        merged.run([] {
          if (id_here() == 1) throw ResourceExhaustedError("full");
          here().all_reduce(ReduceOp::Sum, Tensor(1.0f));
        });
      } catch (const ResourceExhaustedError&) {
        caught = true;
      }
      merged.run(step);
    });
    step();
    return here().all_reduce(ReduceOp::Sum, Tensor(1.0f));
  });
  CHECK(caught);
  CHECK(sums[2].item<float>() == 3);
  CHECK(weight.value().to_vector() == std::vector<float>{-11, -10});  // four steps of 6 * 0.5
}

TEST_CASE("variable creators of one replica do not leak into another (case 20)",
          "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const auto pass = [](const auto& next, const auto& value, const auto& options) {
    return next(value, options);
  };
  const VariableCreatorScope outer(pass);
  const auto depths = strategy.run([&] {
    const size_t inherited = variable_creator_stack().size();
    if (id_here() == 1) {
      const VariableCreatorScope own(pass);
      here().merge_call([](Strategy&) {});
      return variable_creator_stack().size() - inherited;
    }
    here().merge_call([](Strategy&) {});
    return variable_creator_stack().size() - inherited;
  });
  CHECK(depths.values() == std::vector<size_t>{0, 1});
  CHECK(variable_creator_stack().size() == 2);
}

TEST_CASE("run may be called from several threads", "[strategy][replica_group]") {
  MirroredStrategy strategy({.num_replicas = 2});
  std::atomic<int> total{0};
  std::vector<std::thread> users;
  for (int t = 0; t < 3; ++t)
    users.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        strategy.run(
            [&] { total += int(here().all_reduce(ReduceOp::Sum, Tensor(1.0f)).item<float>()); });
    });
  for (std::thread& user : users) user.join();
  CHECK(total == 3 * 20 * 2 * 2);
}
