/// `distribute pack`: its archive runs where nothing of this system is.

#include <tests/examples/shell.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

using Catch::Matchers::Contains;

namespace {

/// Shell: a folder `root` with a shell and what that needs, and `inside COMMAND`, which runs there.
const std::string kRoot =
    "mkdir -p root/bin root/tmp root/dev/shm\n"
    "cp \"$(command -v dash)\" root/bin/sh\n"
    "for file in $(ldd root/bin/sh | grep -o '/[^ ]*'); do mkdir -p root/${file%/*}; cp $file "
    "root/$file; done\n"
    "inside() { unshare -r chroot root /bin/sh -c \"$1\"; }\n";

}  // namespace

TEST_CASE("a packed program runs where there is nothing but a shell", "[tools][pack]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_PROGRAM("distribute");
  if (!has_namespaces("-r")) SKIP("no right to make user namespaces");
  const ProgramResult run = shell(
      "command -v dash || exit 77\n" + kRoot + "bin=" + distribute::testing::binary_dir() +
      "\ndistribute pack mnist_cnn $bin/distribute --data " + distribute::testing::source_dir() +
      "/examples/mnist_cnn/data -o job.tar || exit 1\n"
      "tar -C root -xf job.tar; ls root/job root/job/lib\n"
      "cp $bin/mnist_cnn root/bin; inside /bin/mnist_cnn; echo unpacked $?\n"
      "inside 'cd /tmp && /job/mnist_cnn --data_dir=/job/data --model=tutorial --batch_size=6 "
      "--steps=3'; echo trained $?\n"
      "inside 'cd /job && ./distribute cluster make --worker=a,b'; echo made "
      "$?\n");
  if (run.status == 77) SKIP("no dash");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("job.tar: ") && Contains("libc.so.6") && Contains("libm.so.6"));
  CHECK_THAT(run.out, Contains("unpacked 127"));
  CHECK_THAT(run.out, Contains("test loss ") && Contains("trained 0"));
  CHECK_THAT(run.out, Contains("\"worker\":[\"a:2222\",\"b:2222\"]") && Contains("made 0"));
}

TEST_CASE("what cannot be packed is named", "[tools][pack]") {
  SKIP_WITHOUT_PROGRAM("distribute");
  const ProgramResult run = shell(
      "distribute pack distribute; echo $?\ndistribute pack -o job.tar; echo $?\n"
      "distribute pack nowhere -o job.tar; echo $?\n"
      "distribute pack distribute --data nowhere -o job.tar; echo $?\n"
      "mkdir a; cp \"$(command -v distribute)\" a; distribute pack distribute a/distribute -o "
      "job.tar; echo $?\ndistribute pack distribute -o no/where/job.tar; echo $?; ls\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("say which file to write: -o job.tar.xz") &&
                          Contains("give PROGRAM...") && Contains("nowhere") &&
                          Contains("--data=nowhere is no folder") &&
                          Contains("two programs are called distribute") &&
                          Contains("no/where/job.tar: there is no folder no/where"));
  CHECK_THAT(run.out, !Contains("\n0\n") && !Contains(" bytes\n"));
}

TEST_CASE("an archive goes where every output goes", "[tools][pack]") {
  SKIP_WITHOUT_PROGRAM("distribute");
  const ProgramResult run = shell(
      "distribute pack sh -o /dev/null && test -c /dev/null && echo device\n"
      "echo old > old.tar; ln -s old.tar link.tar\n"
      "(ulimit -f 8; distribute pack sh -o link.tar) || echo full; cat old.tar\n"
      "distribute pack sh -o link.tar && test -L link.tar && tar tf old.tar && echo linked\n"
      "mkfifo pipe.tar; cat pipe.tar > got.tar & distribute pack sh -o pipe.tar; wait\n"
      "tar tf got.tar && echo piped\n");
  INFO(run.out);
  CHECK_THAT(run.out, Contains("device\n") && Contains("full\nold\n"));
  CHECK_THAT(run.out, Contains("linked\n") && Contains("piped\n"));
}
