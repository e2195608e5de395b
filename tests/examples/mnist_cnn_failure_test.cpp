/// mnist_cnn on several workers when one is lost, or was started wrongly: every worker ends and
/// says why.

#include "mnist_cluster.hpp"

#include <distribute/io/compression.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;

namespace {

/// Small steps, without end.
const Words kEndless{"--model=tutorial", "--batch_size=6", "--steps=100000000"};

/// One task is lost at a random moment.
struct Loss {
  bool stopped = false;  // SIGSTOP, else SIGKILL
  int workers = 3, victim = 0;
  int step = 0;  // of worker 0, by hundreds; 0: while the job starts
  double then_seconds = 0;
  std::string transport = {};
};

Loss random_loss(unsigned seed, bool at_start) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  Loss loss;
  loss.stopped = seed % 2 == 1;
  loss.workers = 2 + below(3);
  loss.victim = below(loss.workers);
  loss.step = 100 * (at_start ? below(4) : 1 + below(3));
  loss.then_seconds = 0.001 * below(300);
  loss.transport = below(2) ? "tcp" : "";
  return loss;
}

struct Ending {
  std::vector<TaskOutcome> outcomes;
  std::vector<pid_t> pids;
  double seconds = 0;  // from the signal to the end of the last survivor
};

Ending lose_one(const Loss& loss, const std::map<std::string, std::string>& environment) {
  auto options = cluster_options(loss.workers, kEndless);
  for (const auto& [name, value] : environment) options.environment[name] = value;
  options.environment["DISTRIBUTE_TRANSPORT"] = loss.transport;
  ProcessCluster cluster(options);
  Ending ending;
  for (int i = 0; i < loss.workers; ++i) {
    ending.pids.push_back(cluster.pid({"worker", i}));
    cluster.expect_failure({"worker", i});
  }
  if (loss.step) cluster.wait_for_output({"worker", 0}, "step " + std::to_string(loss.step) + " ");
  std::this_thread::sleep_for(std::chrono::duration<double>(loss.then_seconds));  // any moment
  cluster.kill({"worker", loss.victim}, loss.stopped ? SIGSTOP : SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < loss.workers; ++i)
    if (i != loss.victim) cluster.wait_for_end({"worker", i});
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (loss.stopped) cluster.kill({"worker", loss.victim});
  ending.outcomes = cluster.wait();
  return ending;
}

std::string describe(const Loss& loss) {
  char text[128];
  std::snprintf(text, sizeof(text), "%s worker %d of %d, %-4s %s%4d + %.3f s",
                loss.stopped ? "SIGSTOP" : "SIGKILL", loss.victim, loss.workers,
                loss.transport.empty() ? "shm" : "tcp", "step ", loss.step, loss.then_seconds);
  return text;
}

/// A line of the table: what was done, how long it took, what the first survivor said.
void print_row(int number, const Loss& loss, const Ending& ending) {
  const TaskOutcome& survivor = ending.outcomes[loss.victim == 0 ? 1 : 0];
  std::printf("%3d  %s  %6.3f s  %.100s\n", number, describe(loss).c_str(), ending.seconds,
              error_line(survivor.err).c_str());
  std::fflush(stdout);
}

/// How many are lost: DISTRIBUTE_KILL_ROUNDS (scripts/kill_test.sh), else few.
int rounds_asked_for() {
  const char* text = std::getenv("DISTRIBUTE_KILL_ROUNDS");
  return text ? std::atoi(text) : 0;
}

/// Starts worker `index` of two by hand.
std::string tf_config(int index, const std::string& first, const std::string& second) {
  return "TF_CONFIG='{\"cluster\":{\"worker\":[\"" + first + "\",\"" + second +
         "\"]},\"task\":{\"type\":\"worker\",\"index\":" + std::to_string(index) + "}}'";
}

/// mnist_cnn alone: one line on stderr with `text`, and the status.
void check_complaint(const std::string& environment, int status, const std::string& text,
                     const Words& flags = {}) {
  const ProgramResult run =
      run_program("mnist_cnn", Words{"--steps=1"} + flags,
                  "OMP_NUM_THREADS=1 DISTRIBUTE_STARTUP_TIMEOUT=20 " + environment);
  INFO(environment << "\n" << run.err);
  CHECK(run.status == status);
  CHECK(run.out == "");
  CHECK_THAT(run.err, Contains(text));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
}

/// A cluster in which the flags differ.
std::vector<TaskOutcome> run_different(const std::map<int, std::string>& more) {
  auto options = cluster_options(3, {"--model=tutorial", "--batch_size=24", "--steps=5"}, more);
  return ProcessCluster(options).wait();
}

/// Two free ports of 127.0.0.1, of which this process listens to the first.
class TakenPort {
 public:
  TakenPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  TakenPort(const TakenPort&) = delete;
  ~TakenPort() { ::close(socket_); }
  const std::string& address() const { return address_; }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string address_;
};

}  // namespace

TEST_CASE("a worker that is killed or stands still ends the others with its name",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const int asked = rounds_asked_for();
  // Asked for: also while the job starts, with the limits that users have.
  const std::map<std::string, std::string> quick{{"DISTRIBUTE_LOST_AFTER", "5"},
                                                 {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.25"}};
  const std::map<std::string, std::string> usual{{"DISTRIBUTE_STARTUP_TIMEOUT", "10"}};
  for (int round = 0; round < (asked ? asked : 4); ++round) {
    const Loss loss = random_loss(unsigned(round + 1), asked > 0);
    INFO("round " << round << ": " << describe(loss));
    const Ending ending = lose_one(loss, asked ? usual : quick);
    check_all_say(ending.outcomes, "worker " + std::to_string(loss.victim) + " (",
                  "worker " + std::to_string(loss.victim));
    check_gone(ending.pids);
    if (asked) print_row(round + 1, loss, ending);
  }
}

TEST_CASE("a job that fails leaves the chief's timeline",
          "[examples][mnist_cnn][multiproc][timeline]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const std::string path = out / "trace.json";
  lose_one({.workers = 2, .victim = 1, .step = 100}, {{"DISTRIBUTE_TIMELINE", path}});
  const auto trace = nlohmann::json::parse(file_text(path));
  int spans = 0, failed = 0;
  for (const auto& event : trace.at("traceEvents")) {
    CHECK(event.at("pid") == 0);
    spans += event.at("ph") == "X";
    failed += event.contains("args") && event["args"].contains("failed");
  }
  CHECK(spans > 100);
  CHECK(failed == 1);
}

TEST_CASE("an environment that makes no cluster is one line", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint("TF_CONFIG='{\"cluster\": {'", 2,
                  "TF_CONFIG: not valid JSON at line 1, column 14, near '{\"cluster\": {'");
  check_complaint("TF_CONFIG='{\"task\": {\"type\": [1], \"index\": 0}}'", 2,
                  "TF_CONFIG: task.type must be a string");
  check_complaint("TF_CONFIG='{\"cluster\": {\"worker\": [1]}}'", 2,
                  "TF_CONFIG: cluster['worker'][0]: Task address must be a string");
  check_complaint(tf_config(2, "127.0.0.1:1", "127.0.0.1:2"), 2,
                  "The `task_id` 2 exceeds the maximum id of worker");
  check_complaint(tf_config(0, "127.0.0.1:5", "127.0.0.1:5"), 2, "127.0.0.1:5");
  check_complaint(
      "TF_CONFIG='{\"cluster\":{\"worker\":{\"0\":\"127.0.0.1:1\",\"0\":"
      "\"127.0.0.1:2\"}},\"task\":{\"type\":\"worker\",\"index\":0}}'",
      2, "the key '0' occurs twice");
  check_complaint(
      "TF_CONFIG='{\"cluster\":{\"worker\":[\"127.0.0.1:1\",\"127.0.0.1:2\"]},"
      "\"task\":{\"type\":\"evaluator\",\"index\":0}}'",
      2, "--checkpoint_dir must name the directory where the chief saves");
  check_complaint(
      "TF_CONFIG='{\"cluster\":{\"worker\":[\"127.0.0.1:1\"]},"
      "\"task\":{\"type\":\"worker\",\"index\":0}}'",
      2, "There must be at least one ps", {"--strategy=parameter_server"});
  check_complaint(
      "", 2, "--job_name=worker has 2 task(s)",
      {"--job_name=worker", "--task_index=3", "--worker_hosts=127.0.0.1:1,127.0.0.1:2"});
  check_complaint("", 2, "--job_name=boss is unknown",
                  {"--job_name=boss", "--worker_hosts=127.0.0.1:1"});
  check_complaint("", 2, "bad value", {"--job_name=worker", "--task_index=first"});
  check_complaint("DISTRIBUTE_LOST_AFTER=soon " + tf_config(0, "127.0.0.1:1", "127.0.0.1:2"), 2,
                  "DISTRIBUTE_LOST_AFTER");
}

TEST_CASE("a process alone refuses wrong variables of clusters", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string strategy =
      GENERATE("", "--strategy=one_device", "--strategy=parameter_server", "--api=horovod");
  CAPTURE(strategy);
  for (const std::string name :
       {"DISTRIBUTE_BIND_ADDRESS", "DISTRIBUTE_RESTART_COUNT", "DISTRIBUTE_LOST_AFTER"})
    check_complaint(name + "=abc", 2, name, strategy.empty() ? Words{} : Words{strategy});
}

TEST_CASE("a program of one's own refuses them, too", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn_fit");
  for (const std::string name :
       {"DISTRIBUTE_BIND_ADDRESS", "DISTRIBUTE_RESTART_COUNT", "DISTRIBUTE_LOST_AFTER"}) {
    const ProgramResult run =
        run_program("mnist_cnn_fit", {}, "OMP_NUM_THREADS=1 " + name + "=abc");
    CHECK(run.status == 2);
    CHECK_THAT(run.err, StartsWith("error: " + name));
  }
}

TEST_CASE("a program that trains alone says so where the environment has other tasks",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_PROGRAM("mnist_cnn_mirrored");
  const std::string job = tf_config(1, "127.0.0.1:1", "127.0.0.1:2");
  const std::string warning =
      "warning: this process trains alone: the environment has TF_CONFIG with 2 tasks, but ";
  const auto warnings = [&](const std::string& program, Words words, const std::string& variables) {
    const ProgramResult run = run_program(program, words, "OMP_NUM_THREADS=1 " + variables);
    INFO(program << " " << variables << "\n" << run.out << run.err);
    CHECK(run.status == 0);
    const size_t at = run.err.find(warning);
    if (at == std::string::npos) return 0;
    return run.err.find(warning, at + 1) == std::string::npos ? 1 : 2;
  };
  const Words steps{"--model=tutorial", "--steps=2"};
  CHECK(warnings("mnist_cnn", steps + Words{"--strategy=one_device"}, job) == 1);
  CHECK(warnings("mnist_cnn", steps + Words{"--strategy=one_device"}, "env -u TF_CONFIG") == 0);
  const TemporaryDirectory out;
  const Words flags{"--epochs=1", "--model_dir=" + out.path(),
                    "--data_dir=" + distribute::testing::source_dir() + "/examples/mnist_cnn/data"};
  CHECK(warnings("mnist_cnn_mirrored", flags, job) == 1);
}

TEST_CASE("a port that another program uses is named", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TakenPort port;
  check_complaint("DISTRIBUTE_STARTUP_TIMEOUT=1 " + tf_config(0, port.address(), "127.0.0.1:1"), 1,
                  port.address());
}

TEST_CASE("a worker whose leader never comes says whom it waited for", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint("DISTRIBUTE_STARTUP_TIMEOUT=1 " + tf_config(1, "127.0.0.1:1", "127.0.0.1:2"), 138,
                  "worker 0 (127.0.0.1:1), the leader, has not answered");
}

TEST_CASE("workers with different flags end with the difference",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_all_say(run_different({{1, "--batch_size=48"}}), "batch_size");
  check_all_say(run_different({{2, "--replicas=2"}}), "replicas per worker differs");
  check_all_say(run_different({{1, "--model=book"}}), "model");
  check_all_say(run_different({{0, "--optimizer=sgd"}}), "optimizer");
  check_all_say(run_different({{2, "--steps=7"}}), "steps");
}

namespace {

/// The bundled digits with the test's 1,000 for training, too; or with the bundled training digits,
/// and another label for one digit in the file `changed`.
void write_other_digits(const TemporaryDirectory& to, bool fewer,
                        const std::string& changed = "train-labels-idx1-ubyte.gz") {
  const std::string bundled = distribute::testing::source_dir() + "/examples/mnist_cnn/data/";
  for (const std::string kind : {"images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"}) {
    std::filesystem::copy(bundled + "t10k-" + kind, to / ("t10k-" + kind));
    std::filesystem::copy(bundled + (fewer ? "t10k-" : "train-") + kind, to / ("train-" + kind));
  }
  if (fewer) return;
  const std::string packed = to / changed;
  std::string labels = *distribute::io::decompress_gzip(file_text(packed), packed);
  labels[labels.size() / 2] ^= 1;
  std::ofstream(packed, std::ios::binary) << labels;  // as they are: the name does not matter
}

}  // namespace

TEST_CASE("workers with different data end with the difference",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory less, changed;
  write_other_digits(less, true);
  write_other_digits(changed, false);
  check_all_say(run_different({{1, "--data_dir=" + less.path()}}),
                "the workers have different data: worker 0 has 9000 rows of ");
  check_all_say(run_different({{2, "--data_dir=" + changed.path()}}),
                "the workers have different data: worker 0 has 9000 rows of ");
  auto ranks = cluster_options(3, {"--model=tutorial", "--batch_size=24", "--api=horovod"},
                               {{2, "--data_dir=" + changed.path()}});
  check_all_say(ProcessCluster(ranks).wait(), "worker 2 has 9000 rows of ");
  const TemporaryDirectory other_test;  // whose batches all workers share
  write_other_digits(other_test, false, "t10k-labels-idx1-ubyte.gz");
  for (const TaskOutcome& outcome : run_different({{1, "--data_dir=" + other_test.path()}})) {
    CHECK_THAT(outcome.err, Contains("worker 1 has 1000 rows of "));
    CHECK_THAT(outcome.out, !Contains("step "));  // it ends before the training
  }
  for (const TemporaryDirectory* other : {&changed, &other_test}) {
    // Long enough that worker 1 comes, even when the machine is busy.
    auto elastic =
        cluster_options(2, {"--model=tutorial", "--batch_size=24", "--elastic", "--steps=300"},
                        {{1, "--data_dir=" + other->path()}});
    const auto outcomes = ProcessCluster(elastic).wait();
    CHECK_THAT(outcomes[1].err, Contains("the workers have different data: worker 0 has "));
    CHECK(outcomes[0].status.ok());  // it goes on alone
  }
  auto testers = cluster_options(2, {"--model=tutorial", "--batch_size=24", "--api=horovod"},
                                 {{1, "--data_dir=" + other_test.path()}});
  check_all_say(ProcessCluster(testers).wait(), "worker 1 has 1000 rows of ");

  auto servers = cluster_options(2, {"--model=tutorial", "--batch_size=24", "--steps=5"},
                                 {{1, "--data_dir=" + changed.path()}});
  servers.parameter_servers = 1;
  const auto outcomes = ProcessCluster(servers).wait();
  INFO(all_output(outcomes));
  CHECK_THAT(all_output(outcomes), Contains("the tasks were started with different flags") &&
                                       Contains("worker 1 has data=9000 rows of "));
}

TEST_CASE("a task that is started twice is an error", "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  auto options = cluster_options(3, {"--model=tutorial", "--steps=5"});
  options.command.at(2) =
      "[ $DISTRIBUTE_LOCAL_RANK != 2 ] || "
      "TF_CONFIG=$(echo \"$TF_CONFIG\" | sed 's/\"index\": *2/\"index\": 1/'); "
      "export TF_CONFIG; exec \"$0\" \"$@\"";
  options.environment["DISTRIBUTE_STARTUP_TIMEOUT"] = "2";
  const auto outcomes = ProcessCluster(options).wait();
  INFO(all_output(outcomes));
  CHECK(outcomes[0].status.code == 138);  // another start may find the missing one
  CHECK_THAT(error_line(outcomes[0].err), Contains("have not joined") && Contains("worker 2 ("));
  const auto port_is_taken = [&](size_t task) {
    const std::string line = error_line(outcomes[task].err);
    return line.find("worker 1: cannot listen on") != std::string::npos &&
           line.find("Address already in use") != std::string::npos;
  };
  CHECK(port_is_taken(1) != port_is_taken(2));  // the one that came second
  for (size_t task : {1, 2}) CHECK(outcomes[task].status.code == (port_is_taken(task) ? 1 : 138));
}

TEST_CASE("a task with another job's token is refused", "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  auto options = cluster_options(2, {"--model=tutorial", "--steps=5"});
  options.command.at(2) =
      "[ $DISTRIBUTE_LOCAL_RANK = 0 ] || export DISTRIBUTE_JOB_TOKEN=another-than-the-others; exec "
      "\"$0\" \"$@\"";
  options.environment["DISTRIBUTE_STARTUP_TIMEOUT"] = "3";
  const auto outcomes = ProcessCluster(options).wait();
  INFO(all_output(outcomes));
  CHECK(outcomes[0].status.code == 138);
  CHECK_THAT(error_line(outcomes[0].err), Contains("worker 1"));
  CHECK(outcomes[1].status.code == 1);
  CHECK_THAT(error_line(outcomes[1].err), Contains("token"));
}

TEST_CASE("the classic flags make a cluster, too", "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  auto options = cluster_options(2, {"--model=tutorial", "--steps=5"});
  // Addresses from TF_CONFIG, so that they are free; then as flags.
  options.command.at(2) =
      "hosts=$(echo \"$TF_CONFIG\" | sed 's/.*\"worker\": *\\[\\([^]]*\\)].*/\\1/; s/[\" ]//g'); "
      "unset TF_CONFIG; exec \"$0\" \"$@\" --job_name=worker --worker_hosts=$hosts "
      "--task_index=$DISTRIBUTE_LOCAL_RANK";
  const auto outcomes = ProcessCluster(options).wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes) CHECK(outcome.status.ok());
  CHECK_THAT(outcomes[0].out, Contains("step 5  loss "));
  CHECK(outcomes[1].out == "");
}
