#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/strategy/strategy.hpp>

#include <tests/strategy/server_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <set>

using namespace distribute;
namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

void write_text(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("the chief writes at the real path, others in a directory of their own (case 116)",
          "[checkpoint][worker_path]") {
  const TemporaryDirectory directory;
  run_clean(3, 1, [&](Strategy& strategy, int w) {
    const std::string file = directory / "model.ckpt";
    const std::string temporary = directory / ("workertemp_" + std::to_string(w));
    require(
        train::write_dirpath(directory.path(), strategy) == (w == 0 ? directory.path() : temporary),
        "write_dirpath");
    require(train::write_filepath(file, strategy) == (w == 0 ? file : temporary + "/model.ckpt"),
            "write_filepath");
    require(fs::exists(temporary) == (w != 0), "the directory");
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"workertemp_1", "workertemp_2"});
}

TEST_CASE("temporary directories are removed with all they hold, twice too (case 116)",
          "[checkpoint][worker_path]") {
  const TemporaryDirectory directory;
  run_clean(3, 1, [&](Strategy& strategy, int) {
    const std::string file = train::write_filepath(directory / "model.ckpt", strategy);
    write_text(file, "weights");
    write_text(file + ".d/left/by/a/killed/run", "x");
    for (int i = 0; i < 2; ++i)
      train::remove_temp_dir_with_filepath(directory / "model.ckpt", strategy);
    train::remove_temp_dirpath(directory.path(), strategy);
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"model.ckpt", "model.ckpt.d"});
}

TEST_CASE("without a strategy paths stay as they are (case 116)", "[checkpoint][worker_path]") {
  CHECK(train::write_dirpath("/a/b", get_strategy()) == "/a/b");
  CHECK(train::write_filepath("b", get_strategy()) == "b");
  train::remove_temp_dirpath("/a/b", get_strategy());
}

TEST_CASE("a save leaves the chief's files alone, also of jobs that were larger",
          "[checkpoint][worker_path]") {
  const TemporaryDirectory directory;
  write_text(directory / "workertemp_1/old", "x");
  write_text(directory / "workertemp_7/old", "x");
  write_text(directory / "workertemp_mine/old", "x");  // not ours
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    checkpoint_internal::write_on_all_workers(
        strategy, directory / "ckpt", "",
        [&](const std::string& path) { write_text(path, std::to_string(w)); },
        [](const auto& write) { write(); });
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"ckpt", "workertemp_mine"});
  std::ifstream in(directory / "ckpt");
  CHECK(in.get() == '0');
}

TEST_CASE("a save leaves the directory of a worker alone whose number is beyond their count",
          "[checkpoint][worker_path][elastic]") {
  const TemporaryDirectory directory;
  write_text(directory / "workertemp_1/old", "x");  // of a worker that has left
  write_text(directory / "workertemp_7/old", "x");
  write_text(directory / "workertemp_2/begun", "x");
  std::promise<void> swept;
  run_clean(2, 1,
            [&](Strategy& strategy, int w) {
              checkpoint_internal::write_on_all_workers(
                  strategy, directory / "ckpt", "",
                  [&](const std::string& path) {
                    if (w == 1) swept.get_future().wait();
                    require(w == 0 || fs::exists(directory / "workertemp_2/begun"),
                            "what is begun");
                    write_text(path, "x");
                  },
                  [&](const auto& write) {
                    swept.set_value();
                    write();
                  });
            },
            {.task_ids = {0, 2}});
  CHECK(names_in(directory.path()) == std::set<std::string>{"ckpt", "workertemp_1"});
}

TEST_CASE("a chief's save leaves the directories of workers with loops of their own alone",
          "[checkpoint][worker_path][parameter_server]") {
  const TemporaryDirectory directory;
  write_text(directory / "workertemp_1/begun", "x");
  write_text(directory / "workertemp_2/begun", "x");
  write_text(directory / "workertemp_3/old", "x");  // of a job that was larger
  {
    strategy_test::ServerCluster cluster(3, 1);
    ParameterServerStrategy strategy(cluster.resolver("worker", 0));
    checkpoint_internal::write_on_all_workers(
        strategy, directory / "ckpt", "", [&](const std::string& path) { write_text(path, "x"); },
        [](const auto& write) { write(); });
  }
  CHECK(names_in(directory.path()) ==
        std::set<std::string>{"ckpt", "workertemp_1", "workertemp_2"});
}

TEST_CASE("when writing fails on one worker none keeps a temporary directory",
          "[checkpoint][worker_path]") {
  const int failing = GENERATE(0, 2);
  const TemporaryDirectory directory;
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    checkpoint_internal::write_on_all_workers(
        strategy, directory / "ckpt", "",
        [&](const std::string& path) {
          write_text(path, "half");
          if (w == failing) throw ResourceExhaustedError("no space");
        },
        [](const auto& write) { write(); });
  });
  for (const std::string& error : errors)
    CHECK(error == "rank " + std::to_string(failing) + " of 3: no space");
  CHECK(names_in(directory.path()) == std::set<std::string>{"ckpt"});
}

TEST_CASE("other workers can write beside the chief's directory", "[checkpoint][worker_path]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    checkpoint_internal::write_on_all_workers(
        strategy, directory / "chief/ckpt-1", directory.path(),
        [&](const std::string& path) {
          require(path == directory / (w == 0 ? "chief/ckpt-1" : "workertemp_1/ckpt-1"), "path");
          write_text(path, "x");
        },
        [](const auto& write) { write(); });
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"chief"});
}
