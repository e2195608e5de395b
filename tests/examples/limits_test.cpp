#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/tensor.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// scripts/limits_test.py has the whole grid.
TEST_CASE("programs under limits of resources end with a reason and leave nothing",
          "[examples][limits][multiproc]") {
  if (!has_program("mnist_cnn") || !has_program("distribute")) SKIP("the programs were not built");
  if (std::system("python3 --version > /dev/null 2>&1") != 0) SKIP("there is no python3");
  const TemporaryDirectory directory;
  const std::string log = directory / "log";
  const int status =
      std::system(("python3 " + distribute::testing::source_dir() + "/scripts/limits_test.py " +
                   shell_quoted(distribute::testing::binary_dir()) + " --small > " + log)
                      .c_str());
  std::ifstream file(log);
  INFO(std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(status == 0);
}

namespace {

/// Sets the limit of address space so that `bytes` more can be taken.
void leave_room(int64_t bytes) {
  rlimit limit{rlim_t{1} << 46, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);  // for address_room()
  limit.rlim_cur = rlim_t(distribute::address_room()->used + bytes);
  ::setrlimit(RLIMIT_AS, &limit);
}

void leave_all_room() {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

// These two are run by the test below, each in a process of its own.
TEST_CASE("a change of layout with no room for code", "[.no_room_for_code]") {
  using namespace distribute;
  if (!std::getenv("DISTRIBUTE_TEST_NO_ROOM")) SKIP("run by the next test");
  const Tensor y = nn::conv2d(ones({2, 8, 8, 16}), ones({3, 3, 16, 32}), {});
  if (!y.layout()) SKIP("the backend's results are row-major");
  leave_room(2 << 20);
  CHECK_THROWS_AS(y.data<float>(), ResourceExhaustedError);
  leave_all_room();
  CHECK(y.data<float>().size() == size_t(y.num_elements()));  // and it goes on
}

TEST_CASE("a product with no room for code", "[.no_room_for_product]") {
  using namespace distribute;
  if (!std::getenv("DISTRIBUTE_TEST_NO_ROOM")) SKIP("run by the next test");
  if (!onednn_backend()) SKIP("this build has no oneDNN");
  // The kernel's gradient of a dense layer, which is oneDNN's gemm.
  const Tensor x = ones({8, 64}), dy = ones({8, 32});
  (void)matmul(ones({2, 2}), ones({2, 2}));  // what else a first product takes
  leave_room(2 << 20);
  CHECK_THROWS_AS(matmul(x, dy, {.transpose_a = true}), ResourceExhaustedError);
  leave_all_room();
  CHECK(matmul(x, dy, {.transpose_a = true}).data<float>()[0] == 8.0f);
}

TEST_CASE("oneDNN is not asked for code that there is no memory for", "[examples][limits]") {
  const char* const name = GENERATE("[.no_room_for_code]", "[.no_room_for_product]");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DISTRIBUTE_TEST_NO_ROOM", "1", 1);
    ::execl("/proc/self/exe", "test", name, nullptr);
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  INFO(name);
  CHECK(status == 0);  // not signal 11
}
