#include <distribute/base/error.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/run_report.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using train::check_output_paths;
using train::OutputKind;
using train::OutputPath;

namespace {

std::string problem_of(const std::vector<OutputPath>& outputs) {
  try {
    check_output_paths(outputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// problem_of() for a user who may not write everywhere: in a child that runs as user 65534.
bool is_refused_to_other_user(const std::vector<OutputPath>& outputs) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    ::_exit(problem_of(outputs).find(" cannot be written: ") == std::string::npos ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) != 9));
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("a path lies in a directory however both are written", "[train][output_paths]") {
  using train::lies_in;
  CHECK(lies_in("/a/b/c", "/a/b"));
  CHECK(lies_in("/a/b/", "/a/b"));
  CHECK(lies_in("/a/./x/../b/c", "/a//b/"));
  CHECK(!lies_in("/a/bc", "/a/b"));
  CHECK(!lies_in("/a", "/a/b"));
  CHECK(lies_in("s3://bucket/run/model/x", "s3://bucket/run/model/"));
  CHECK(!lies_in("", "/a"));
  CHECK(!lies_in("/a", ""));
}

TEST_CASE("a folder in which no file can be made is refused, whatever its rights say",
          "[train][output_paths]") {
  for (const OutputKind kind : {OutputKind::Directory, OutputKind::Alone, OutputKind::Prefix})
    CHECK_THAT(problem_of({{"--out", "/proc/x", kind}}),
               Catch::Matchers::Contains("--out=/proc/x: directory /proc/ cannot be written: "));
  const TemporaryDirectory out;
  CHECK(problem_of({{"--out", out / "x/y", OutputKind::Alone}}) == "");
  CHECK(std::filesystem::is_empty(out.path()));
}

TEST_CASE("outputs that exclude each other are named", "[train][output_paths]") {
  const TemporaryDirectory out;
  CHECK(problem_of({{"--json", out / "a"}, {"--loss_csv", out / "b"}, {"--export_onnx", ""}}) ==
        "");
  CHECK(problem_of({{"--json", "-"}, {"--loss_csv", out / "-"}}) == "");
  CHECK(problem_of({{"--json", out / "a"}, {"--loss_csv", out / "a"}}) ==
        "--json and --loss_csv are both " + (out / "a"));
  CHECK_THAT(problem_of({{"--export_dir", out / "m", OutputKind::Alone},
                         {"--logdir", out / "m/logs", OutputKind::Directory}}),
             Contains("--logdir=" + (out / "m/logs") + " lies in --export_dir="));
}

TEST_CASE("a directory is no file and a file is no directory", "[train][output_paths]") {
  const TemporaryDirectory out;
  std::ofstream(out / "file") << "x";
  CHECK_THAT(problem_of({{"--json", out.path()}}), Contains("is a directory"));
  CHECK_THAT(problem_of({{"--logdir", out / "file", OutputKind::Directory}}),
             Contains("is not a directory"));
  CHECK(problem_of({{"--final_checkpoint", out.path(), OutputKind::Prefix}}) == "");
}

TEST_CASE("a directory that is missing or forbidden is found before anything is written",
          "[train][output_paths]") {
  const TemporaryDirectory out;
  CHECK_THAT(problem_of({{"--json", out / "missing/run.json"}}),
             Contains("--json=" + (out / "missing/run.json")) && Contains("cannot be written"));
  CHECK(problem_of({{"--checkpoint_dir", out / "new/run", OutputKind::Directory}}) == "");
  CHECK(problem_of({{"--export_dir", out / "new/model", OutputKind::Alone}}) == "");
  std::filesystem::permissions(out.path(), std::filesystem::perms(0755));
  CHECK(is_refused_to_other_user({{"--checkpoint_dir", out / "new/run", OutputKind::Directory}}));
  CHECK(is_refused_to_other_user({{"--export_onnx", out / "model.onnx"}}));
  std::filesystem::permissions(out.path(), std::filesystem::perms(0777));
  CHECK(!is_refused_to_other_user({{"--checkpoint_dir", out / "new/run", OutputKind::Directory}}));
  CHECK(std::filesystem::is_empty(out.path()));
}

TEST_CASE("an output on an unknown store names the output", "[train][output_paths]") {
  CHECK_NOTHROW(check_output_paths({{"--json", "nostore://bucket/run.json"}}));
  CHECK_NOTHROW(train::check_output_stores({{"--json", "/nowhere/run.json"}}));
  CHECK_THROWS_WITH(train::check_output_stores({{"--json", "nostore://bucket/run.json"}}),
                    Contains("--json=nostore://bucket/run.json: "));
}
