/// What programs write to, signals, partitions, their environment: scripts/attack_test.py has all.

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

TEST_CASE("programs that are attacked hang nowhere, spare what is not theirs and give reasons",
          "[examples][attack][multiproc]") {
  if (!has_program("mnist_cnn") || !has_program("distribute")) SKIP("the programs were not built");
  if (::geteuid() != 0) SKIP("private mounts and hosts need root");
  if (std::system("python3 --version > /dev/null 2>&1") != 0) SKIP("there is no python3");
  if (std::system("unshare --mount --pid --fork --mount-proc --net true 2> /dev/null") != 0)
    SKIP("this machine allows no namespaces");
  const TemporaryDirectory directory;
  const std::string log = directory / "log", build = distribute::testing::binary_dir() + "/..";
  const int status =
      std::system(("python3 " + distribute::testing::source_dir() +
                   "/scripts/attack_test.py --small " + shell_quoted(build) + " > " + log + " 2>&1")
                      .c_str());
  std::ifstream file(log);
  INFO(std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(status == 0);
}
