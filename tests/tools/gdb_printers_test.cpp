#include <tests/support/catch.hpp>
#include <tests/support/gdb_target.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>

#include <filesystem>

using namespace distribute;

TEST_CASE("where the debugger of the next test stops", "[.][gdb_target]") {
  const Tensor matrix({2, 2}, std::vector<float>{1, 2, 3, 4});
  CHECK(stop_here(matrix, Tensor(), Variable(matrix, {.name = "kernel"}), Shape{3, 4}) == 3);
}

TEST_CASE("gdb shows tensors, variables and shapes", "[tools][gdb_printers]") {
  if (!std::filesystem::exists("/usr/bin/gdb")) SKIP("no gdb");
  const std::string printers =
      distribute::testing::source_dir() + "/tools/debuggers/distribute_gdb.py";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string line =
      "gdb -nx -batch -x " + shell_quoted(printers) + " -ex 'break stop_here' -ex run";
  for (const char* name : {"matrix", "none", "kernel", "shape"})
    line += " -ex 'print " + std::string(name) + "'";
  const ProgramResult run = run_line(line + " --args " + shell_quoted(self) + " '[gdb_target]'");
  INFO(run.out << run.err);
  if (run.err.find("ptrace") != std::string::npos) SKIP("the kernel forbids debugging");
  CHECK_THAT(run.out, Contains(" = Tensor([2, 2], float32) [[1, 2], [3, 4]]\n"));
  CHECK_THAT(run.out, Contains("Tensor without a value"));
  CHECK_THAT(run.out, Contains("Variable \"kernel\""));
  CHECK_THAT(run.out, Contains(" = [3, 4]\n"));
}

namespace {

/// The line that starts a lldb which can run Python; empty where there is none. Debian's looks for
/// its Python files in a folder that does not exist.
std::string lldb_line() {
  for (const std::string version : {"-14", "-15", "-16", "-17", "-18", "-19", ""}) {
    const std::string path = "/usr/lib/llvm" + version + "/lib/$(python3 -c 'import sys; " +
                             "print(\"python%d.%d\" % sys.version_info[:2])')/dist-packages";
    const std::string line = "PYTHONPATH=" + path + ":$PYTHONPATH lldb" + version;
    if (!std::filesystem::exists("/usr/bin/lldb" + version)) continue;
    if (run_line(line + " -b -o 'script print(6 * 7)'").out.find("42") != std::string::npos)
      return line;
  }
  return "";
}

}  // namespace

TEST_CASE("lldb shows tensors, variables and shapes", "[tools][lldb_printers]") {
  const std::string lldb = lldb_line();
  if (lldb.empty()) SKIP("no lldb with Python");
  const std::string printers =
      distribute::testing::source_dir() + "/tools/debuggers/distribute_lldb.py";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const ProgramResult run = run_line(
      lldb + " -b -o " + shell_quoted("command script import " + printers) +
      " -o 'breakpoint set -n stop_here' -o run -o 'print matrix' -o 'frame variable' -- " +
      shell_quoted(self) + " '[gdb_target]'");
  INFO(run.out << run.err);
  if (run.out.find("stop reason") == std::string::npos) SKIP("the kernel forbids debugging");
  CHECK_THAT(run.out, Contains(" = Tensor([2, 2], float32) [[1, 2], [3, 4]]\n"));
  CHECK_THAT(run.out, Contains("Tensor without a value"));
  CHECK_THAT(run.out, Contains("Variable \"kernel\""));
  CHECK_THAT(run.out, Contains("[3, 4]"));
}
