#include <distribute/collective/detail/window_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;

namespace {

/// Every rank maps the memory for itself, as processes do.
std::vector<std::unique_ptr<Transport>> make_shm(int ranks) {
  const auto first = Window::create(ranks, 8 << 20);
  std::vector<std::unique_ptr<Transport>> result;
  for (int r = 0; r < ranks; ++r)
    result.push_back(std::make_unique<WindowTransport>(
        Window::attach(::dup(first->descriptor()), ranks, 8 << 20), r, "shm"));
  return result;
}

/// All-reduces in processes of their own; the exit status of each.
template <typename Body>
std::vector<pid_t> fork_ranks(int ranks, const Window& window, const Body& body) {
  std::vector<pid_t> children;
  for (int r = 0; r < ranks; ++r) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int status = 9;
    try {
      Communicator group(std::make_unique<WindowTransport>(
                             Window::attach(::dup(window.descriptor()), ranks), r, "shm"),
                         {.timeout_seconds = 20});
      status = body(group);
    } catch (const Error&) {
      status = 8;
    }
    ::_exit(status);
  }
  return children;
}

int exit_status(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("threads hold the contract", "[collective][window]") {
  contract::check(make_thread_transports);
}

TEST_CASE("shared memory holds the contract", "[collective][window]") { contract::check(make_shm); }

TEST_CASE("arrays in the arenas are summed in place, the same bits", "[collective][window]") {
  const int ranks = GENERATE(1, 2, 3, 4, 5, 8);
  const int64_t count = GENERATE(1025, 100'003);
  const ReductionOp op = GENERATE(ReductionOp::Sum, ReductionOp::Mean);
  CAPTURE(ranks, count);
  contract::run_clean(make_shm, ranks, [&](Communicator& group) {
    auto copied = contract::numbers<float>(group.rank(), count);
    // Other offsets on other ranks.
    float* placed =
        reinterpret_cast<float*>(group.shared_memory().data() + 4096 * (group.rank() + 1));
    std::copy(copied.begin(), copied.end(), placed);
    group.all_reduce(copied.data(), count, DType::Float32, op);
    group.all_reduce(placed, count, DType::Float32, op);
    if (!contract::same_bits(placed, copied.data(), size_t(count)))
      throw InternalError("other bits in place");
    // One rank outside: all copy.
    std::vector<float> outside(placed, placed + count), again = outside;
    float* mixed = group.rank() == 0 ? outside.data() : placed;
    group.all_reduce(mixed, count, DType::Float32, op);
    group.all_reduce(again.data(), count, DType::Float32, op);
    if (!contract::same_bits(mixed, again.data(), size_t(count)))
      throw InternalError("other bits with one array outside");
  });
}

TEST_CASE("processes reduce through shared memory", "[collective][window]") {
  const int ranks = GENERATE(2, 3, 5);
  const auto window = Window::create(ranks);
  const auto children = fork_ranks(ranks, *window, [&](Communicator& group) {
    for (int i = 1; i <= 200; ++i) {
      std::vector<float> data(size_t(i * 37), float(group.rank() + i));
      group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
      const float want = float(ranks * i + ranks * (ranks - 1) / 2);
      if (data.front() != want || data.back() != want) return 1;
    }
    return 0;
  });
  for (pid_t child : children) CHECK(exit_status(child) == 0);
}

TEST_CASE("an error of one rank reaches the ranks that wait for it", "[collective][window]") {
  const auto errors = contract::run_ranks(make_shm, 3, [](Communicator& group) {
    float x = 1;
    if (group.rank() == 2) {
      group.abort(StatusCode::ResourceExhausted, "the disk is full");
      group.receive(&x, 1, DType::Float32, 0);
    }
    group.all_reduce(&x, 1, DType::Float32);
  });
  CHECK_THAT(errors[2], Contains("the disk is full"));
  CHECK_THAT(errors[0], Contains("rank 2 has failed: the disk is full"));
  CHECK_THAT(errors[1], Contains("rank 2 has failed") || Contains("rank 0 has failed"));
}

TEST_CASE("a window of other size is refused", "[collective][window]") {
  const auto window = Window::create(2, 1 << 20);
  CHECK_THROWS_WITH(Window::attach(::dup(window->descriptor()), 3, 1 << 20),
                    Contains("not a window of 3 ranks"));
}
