/// The programs that teach one way to train each: they learn, with real processes, and leave what
/// they promise.

#include "teaching.hpp"

#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/testing/thread_cluster.hpp>
#include <tests/support/source_dir.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <regex>

using namespace mnist_cluster;
using distribute::testing::wait_until;

TEST_CASE(
    "each program's --help says what it does and lists its flags, and each has a folder of its "
    "own for its model",
    "[examples][teaching][help]") {
  const fs::path examples = distribute::testing::source_dir() + "/examples";
  std::map<std::string, std::string> folders;  // and whose they are
  for (const auto& entry : fs::recursive_directory_iterator(examples)) {
    const fs::path file = entry.path();
    const std::string text = file.extension() == ".cpp" ? file_text(file.string()) : "";
    if (!text.starts_with("/// ") || text.find("\nABSL_FLAG(") == std::string::npos ||
        text.find("\nint main(") == std::string::npos)
      continue;
    const std::string program = file.parent_path().filename().string() + "_" + file.stem().string();
    SKIP_WITHOUT_PROGRAM(program);
    const ProgramResult help = run_program(program, {"--help"});
    INFO(program << "\n" << help.out << help.err);
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains(program + ": " + text.substr(4, text.find('\n') - 4)));
    const std::regex flag("\nABSL_FLAG\\([^,]*, (\\w+),\\s*([^,]*),");
    for (std::sregex_iterator at(text.begin(), text.end(), flag), end; at != end; ++at) {
      CHECK_THAT(help.out, Contains("--" + (*at)[1].str() + " ("));
      if ((*at)[1] != "model_dir") continue;
      CHECK(folders[(*at)[2]] == "");
      folders[(*at)[2]] = program;
    }
  }
  CHECK(folders.size() == 12);
}

TEST_CASE("long words of a command line are cut in what teaching programs print",
          "[examples][teaching]") {
  const std::string longer(20'000, 'x');
  for (const char* program : {"mnist_cnn_fit", "mnist_cnn_tfrecords", "mnist_cnn_distribute_book",
                              "mnist_cnn_job", "resnet50_resume", "text_transformer_decoder"}) {
    SKIP_WITHOUT_PROGRAM(program);
    for (const std::string& word : {"--epochs=" + longer, "--steps=" + longer, "--" + longer,
                                    "--task_index=" + longer, longer}) {
      const ProgramResult run = run_program(program, {word});
      INFO(program << " " << word.substr(0, 20) << "\n" << run.out << run.err);
      CHECK(run.status != 0);
      // A flag that the program lacks is named without its value.
      const bool lacks =
          word.find('=') != std::string::npos && run.err.find("Unknown") != std::string::npos;
      if (!lacks) CHECK_THAT(run.err, Contains("xxx... (20"));
      CHECK(run.out.size() + run.err.size() < 3000);
    }
  }
}

TEST_CASE("a wrong flag of a teaching program is one line, and status 2", "[examples][teaching]") {
  const std::pair<const char*, Words> wrong[] = {
      {"mnist_cnn_mirrored", {"--epochs=0"}},
      {"mnist_cnn_multi_worker", {"--steps=0"}},
      {"mnist_cnn_parameter_server", {"--epochs=-1"}},
      {"mnist_cnn_between_graph", {"--steps=0"}},
      {"mnist_cnn_distribute_book", {"--job_name=chief"}},
      {"mnist_cnn_distribute_book", {"--job_name=worker", "--batch_size=0"}},
      {"mnist_cnn_elastic", {"--steps=0"}},
      {"mnist_cnn_estimator", {"--steps=0"}},
      {"mnist_cnn_fit", {"--epochs=0"}},
      {"mnist_cnn_horovod", {"--steps=0"}},
      {"mnist_cnn_job", {"--batch_size=0"}},
      {"mnist_cnn_tfrecords", {"--epochs=0"}},
      {"resnet50_resume", {"--save_steps=0"}},
      {"resnet50_resume", {"--image_size=0"}},
      {"text_transformer_decoder", {"--accumulate=0"}},
      {"text_transformer_decoder", {"--policy=float17"}},
      {"text_transformer_fine_tune", {"--model=folder", "--kind=bert"}},
      {"text_transformer_fine_tune", {"--model=/no/such/folder", "--rank=0"}}};
  for (const auto& [program, flags] : wrong) {
    SKIP_WITHOUT_PROGRAM(program);
    for (const std::string& last : {flags.back(), std::string("--nonsense=1")}) {
      Words words = flags;
      words.back() = last;
      const ProgramResult run = run_program(program, words, "env -u TF_CONFIG");
      INFO(program << " " << last << "\n" << run.out << run.err);
      CHECK(run.status == 2);
      CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
      CHECK_THAT(run.err, Contains(last.substr(2, last.find('=') - 2)));
    }
  }
}

TEST_CASE("mirrored.cpp learns on two devices and restores without a strategy",
          "[examples][teaching]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_mirrored");
  const TemporaryDirectory directory;
  const ProgramResult run =
      run_program("mnist_cnn_mirrored", flags_of(directory, {"--replicas=2", "--epochs=2"}),
                  "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("Number of devices: 2"));
  check_loss_falls(run.out, ", Loss: ");
  const double trained = accuracy_in(run.out, "Test Accuracy: ");
  CHECK(trained > 0.85);
  CHECK(accuracy_in(run.out, "without strategy: ") == trained);
  CHECK(fs::exists(directory / "ckpt-2.index"));
}

TEST_CASE("multi_worker.cpp learns on three workers, whose chief alone leaves files",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_multi_worker");
  const TemporaryDirectory directory;
  const Words flags = flags_of(directory, {"--steps=20", "--epochs=2"});
  ProcessCluster cluster(job_of("mnist_cnn_multi_worker", 3, flags));
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  check_loss_falls(outcomes[0].out, "train_loss: ");
  CHECK(outcomes[1].out + outcomes[2].out == "");
  CHECK(fs::exists(directory / "ckpt-1.index"));
  CHECK(fs::exists(directory / "weights.txt"));
  CHECK_FALSE(fs::exists(directory / "backup/chief"));
  check_no_temporary_directories(directory);
}

TEST_CASE("multi_worker.cpp goes on in mid-epoch when it was told to go",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_multi_worker");
  const TemporaryDirectory directory;
  // An epoch is longer than any machine needs: both jobs end only because they are told to.
  for (const bool again : {false, true}) {
    ProcessCluster cluster(
        job_of("mnist_cnn_multi_worker", 2, flags_of(directory, {"--steps=1000000"})));
    for (int worker : {0, 1}) cluster.expect_failure({"worker", worker});
    if (again)
      cluster.wait_for_output({"worker", 0}, "goes on with epoch 0, step ");
    else
      wait_until([&] { return fs::exists(directory / "backup/chief/checkpoint"); }, "a backup");
    cluster.kill({"worker", 1}, SIGTERM);
    const auto outcomes = cluster.wait();
    INFO(all_output(outcomes));
    for (const TaskOutcome& outcome : outcomes)
      CHECK(outcome.status.describe() == "exited with status 143");
    if (again) CHECK(accuracy_in(outcomes[0].out, "epoch 0, step ") >= 20);
  }
  check_no_temporary_directories(directory);
}

TEST_CASE("parameter_server.cpp learns with a coordinator, two workers and a server",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_parameter_server");
  const TemporaryDirectory directory;
  auto options =
      job_of("mnist_cnn_parameter_server", 2, flags_of(directory, {"--steps=60", "--epochs=2"}));
  options.parameter_servers = 1;
  options.chief = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK_THAT(outcomes[0].out, Contains("Finished epoch 1, accuracy is "));
  const auto accuracies = numbers_after(outcomes[0].out, ", accuracy is ");
  CHECK(accuracies.back() > accuracies.front());
  CHECK(accuracy_in(outcomes[0].out, "Evaluation accuracy: ") > 0.7);
  const auto keys = distribute::train::BundleReader(directory / "ckpt-2").keys();
  CHECK(std::ranges::count_if(keys, [](const std::string& key) {
          return key.find("/kernel/") != std::string::npos;
        }) == 4);  // of two layers, with a slot each
}

TEST_CASE("between_graph.cpp learns with one server and three workers that count steps together",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_between_graph");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_between_graph", 3, flags_of(directory, {"--steps=150"}));
  options.parameter_servers = 1;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  for (int worker : {0, 1, 2})
    CHECK_THAT(outcomes[size_t(worker)].out,
               Contains(distribute::str_cat("worker ", worker, ": loss ")));
  CHECK(accuracy_in(outcomes[0].out, "test accuracy ") > 0.7);
  const auto newest = distribute::train::latest_checkpoint(directory.path());
  REQUIRE(newest);
  CHECK(accuracy_in(*newest, "model.ckpt-") >= 150);  // each sees the common count after its step
}

TEST_CASE("horovod.cpp learns with two ranks of the launcher", "[examples][teaching][launch]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_horovod");
  SKIP_WITHOUT_PROGRAM("distribute");
  const TemporaryDirectory directory;
  const ProgramResult run = run_program(
      "distribute",
      Words{"run", "-np", "2", "--", distribute::testing::binary_dir() + "/mnist_cnn_horovod"} +
          flags_of(directory, {"--steps=160"}),
      "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  check_loss_falls(run.out, "Loss: ");
  CHECK(accuracy_in(run.out, "test accuracy ") > 0.7);
  CHECK(fs::exists(directory / "ckpt-1.index"));
}

TEST_CASE("elastic.cpp goes on when a worker is killed, and takes it in again",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_elastic");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_elastic", 3, flags_of(directory, {"--steps=400"}));
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  ProcessCluster cluster(options);
  cluster.wait_for_output({"worker", 0}, "3 workers from step 0");
  cluster.kill({"worker", 1}, SIGKILL);
  cluster.wait_for_output({"worker", 0}, "2 workers from step ");
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 0}, "\n3 workers from step ");
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  check_loss_falls(outcomes[0].out, " loss ");
  CHECK(accuracy_in(outcomes[0].out, "test accuracy ") > 0.85);
  CHECK(fs::exists(directory / "ckpt-1.index"));
}

TEST_CASE("fit.cpp learns on two devices, and on two workers", "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_fit");
  const TemporaryDirectory directory;
  const bool workers = GENERATE(false, true);
  CAPTURE(workers);
  std::string out;
  if (workers) {
    ProcessCluster cluster(job_of("mnist_cnn_fit", 2, flags_of(directory, {"--epochs=2"})));
    out = cluster.join()[0].out;
  } else {
    const ProgramResult run =
        run_program("mnist_cnn_fit", flags_of(directory, {"--epochs=2", "--replicas=2"}),
                    "env -u TF_CONFIG OMP_NUM_THREADS=1");
    INFO(run.out << run.err);
    REQUIRE(run.status == 0);
    out = run.out;
  }
  INFO(out);
  CHECK_THAT(out, Contains("Number of devices: 2"));
  CHECK_THAT(out, Contains("Learning rate for epoch 2 is 0.001"));
  const double first = accuracy_in(out, "Loss: ");
  CHECK(accuracy_in(out, "in the first epoch, ") < 0.8 * first);
  CHECK(accuracy_in(out, "Eval accuracy: ") > 0.85);
  CHECK(fs::exists(directory / "ckpt_2.index"));
  CHECK(fs::exists(directory / "logs/train"));
  check_no_temporary_directories(directory);
}

TEST_CASE("estimator.cpp trains on chief and worker, and evaluates in a task of its own",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_estimator");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_estimator", 1, flags_of(directory, {"--steps=200"}));
  options.chief = true;
  options.parameter_servers = 1;
  options.evaluator = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  REQUIRE(outcomes.size() == 4);
  CHECK(accuracy_in(outcomes[3].out, " accuracy ") > 0.7);  // printed by the evaluator alone
  CHECK_THAT(outcomes[0].out + outcomes[1].out, !Contains(" accuracy "));
  CHECK(fs::exists(directory / "checkpoint"));
  CHECK(fs::exists(directory / "eval"));
}
