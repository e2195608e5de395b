/// distribute_book.cpp as its comment starts it, and tfrecords.cpp.

#include <distribute/launch/launcher.hpp>

#include "shell.hpp"
#include "teaching.hpp"

#include <map>
#include <regex>

using namespace mnist_cluster;

TEST_CASE("distribute_book.cpp in four terminals prints each hundredth step once",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_distribute_book");
  const distribute::launch::ReservedPort ports[4];
  const auto host = [&](int i) { return "localhost:" + std::to_string(ports[i].number()); };
  const ProgramResult run = shell(
      "flags='" + kDigits + " --model_dir=model --train_steps=500 --ps_hosts=" + host(0) +
      " --worker_hosts=" + host(1) + "," + host(2) + "," + host(3) + "'\n" +
      "task() { mnist_cnn_distribute_book --job_name=$1 --task_index=$2 $flags > $1-$2 2>&1 & "
      "pids=\"$pids $!\"; }\n"
      "trap 'kill $pids 2> /dev/null' EXIT TERM\n"
      "task ps 0; task worker 0; task worker 1; task worker 2\n"
      "for pid in $pids; do wait $pid; echo ended $?; done; cat ps-0 worker-*; ls model\n");
  INFO(run.out);
  CHECK_THAT(run.out,
             Contains("ended 0\nended 0\nended 0\nended 0\n") && Contains("\ncheckpoint\n"));
  const std::regex line("worker [012]: step (\\d+) loss [0-9.]+\n");
  std::map<int, int> printed;
  for (std::sregex_iterator at(run.out.begin(), run.out.end(), line), end; at != end; ++at)
    ++printed[std::stoi((*at)[1])];
  CHECK(printed == std::map<int, int>{{100, 1}, {200, 1}, {300, 1}, {400, 1}, {500, 1}});
}

TEST_CASE("tfrecords.cpp writes records and parses them by a function of its own",
          "[examples][teaching]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_tfrecords");
  const TemporaryDirectory directory;
  const Words flags{kDigits, "--records=" + (directory / "records"), "--epochs=1"};
  const ProgramResult run =
      run_program("mnist_cnn_tfrecords", Words{"--write"} + flags, "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  CHECK(accuracy_in(run.out, "test accuracy ") > 0.85);
  // The same numbers from the records alone, in whatever order the threads parse.
  CHECK(accuracy_in(run_program("mnist_cnn_tfrecords", flags, "OMP_NUM_THREADS=1").out,
                    "test accuracy ") == accuracy_in(run.out, "test accuracy "));
}
