#include <distribute/base/status.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/detail/module_graph.hpp>
#include <distribute/train/tensor_board.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>
#include <tests/train/small_model.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using train::TensorBoard;
using train::TensorBoardOptions;
using train::Verbose;
namespace fs = std::filesystem;

namespace {

/// By tag: step and number of every entry of the event files in a directory.
using Entries = std::map<std::string, std::vector<std::pair<int64_t, double>>>;

struct Found {
  Entries entries;
  std::vector<summary::GraphNode> graph;
};

Found read_run(const std::string& directory) {
  Found found;
  for (const auto& file : fs::directory_iterator(directory)) {
    auto reader = value_or_throw(io::RecordReader::open(file.path()));
    for (std::string record; value_or_throw(reader.next(record));) {
      const auto event = summary::decode_event(record, file.path());
      if (!event.graph_def.empty()) found.graph = summary::decode_graph(event.graph_def, "here");
      for (const auto& entry : event.entries)
        found.entries[entry.tag].emplace_back(event.step, entry.number);
    }
  }
  return found;
}

std::set<std::string> tags_of(const Entries& entries) {
  std::set<std::string> tags;
  for (const auto& [tag, values] : entries) tags.insert(tag);
  return tags;
}

train::History fit(TensorBoardOptions options) {
  SmallModel model({.learning_rate = 0.1});
  return model.fit(small_data(12).batch(4), {.epochs = 2,
                                             .validation_data = small_data(6).batch(4),
                                             .callbacks = {TensorBoard(options)},
                                             .verbose = Verbose::Silent});
}

/// What the script says, or nothing where there is no TensorBoard.
std::optional<nlohmann::json> ask_tensorboard(const std::string& directory) {
  const char* python = std::getenv("DISTRIBUTE_TENSORBOARD_PYTHON");
  const std::string command = std::string(python ? python : "python3") + " " +
                              distribute::testing::source_dir() +
                              "/tests/summary/tensorboard_reads.py " + directory + " 2>/dev/null";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  const int status = ::pclose(pipe);
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) return std::nullopt;
  INFO(text);
  REQUIRE(status == 0);
  return nlohmann::json::parse(text);
}

}  // namespace

TEST_CASE("TensorBoard finds Keras's tags of epochs", "[train][tensor_board]") {
  const TemporaryDirectory directory;
  const auto history = fit({.log_dir = directory.path()});
  const Found train = read_run(directory / "train"),
              validation = read_run(directory / "validation");
  CHECK(tags_of(train.entries) ==
        std::set<std::string>{"epoch_loss", "epoch_accuracy", "epoch_learning_rate"});
  CHECK(tags_of(validation.entries) == std::set<std::string>{"epoch_loss", "epoch_accuracy",
                                                             "evaluation_loss_vs_iterations",
                                                             "evaluation_accuracy_vs_iterations"});
  const auto& losses = train.entries.at("epoch_loss");
  REQUIRE(losses.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(losses[i].first == int64_t(i));
    CHECK(losses[i].second == Approx(history.history.at("loss")[i]));
    CHECK(validation.entries.at("epoch_loss")[i].second ==
          Approx(history.history.at("val_loss")[i]));
    CHECK(validation.entries.at("evaluation_loss_vs_iterations")[i].first == int64_t(i + 1) * 3);
  }
  CHECK(train.graph.size() == 7);  // input, two layers with kernel and bias
}

TEST_CASE("batches, histograms and speed are written when asked for", "[train][tensor_board]") {
  const TemporaryDirectory directory;
  fit({.log_dir = directory.path(),
       .histogram_freq = 1,
       .write_graph = false,
       .write_steps_per_second = true,
       .update_freq = 2});
  const Found train = read_run(directory / "train");
  CHECK(train.graph.empty());
  std::vector<int64_t> steps;
  for (const auto& [step, value] : train.entries.at("batch_loss")) steps.push_back(step);
  CHECK(steps == std::vector<int64_t>{2, 4, 6});
  CHECK(train.entries.at("batch_accuracy").size() == 3);
  CHECK(train.entries.at("hidden/kernel/histogram").size() == 2);
  CHECK(train.entries.at("out/bias/histogram").size() == 2);
  CHECK(train.entries.at("epoch_steps_per_second").size() == 2);
  CHECK(train.entries.at("batch_steps_per_second").size() == 3);
  CHECK_THROWS_AS(TensorBoard({.log_dir = ""}), InvalidArgumentError);
  CHECK_THROWS_AS(TensorBoard({.histogram_freq = -1}), InvalidArgumentError);
}

TEST_CASE("speed and waiting of the input are written at every epoch's end",
          "[train][tensor_board]") {
  const TemporaryDirectory directory;
  const auto statistics = std::make_shared<data::PipelineStatistics>();
  SmallModel model({.learning_rate = 0.1}, false);
  model.fit(
      small_data(12).batch(4).measure(statistics, "batch"),
      {.epochs = 2,
       .callbacks = {TensorBoard({.log_dir = directory.path(), .input_statistics = statistics})},
       .verbose = Verbose::Silent});
  const auto entries = read_run(directory / "train").entries;
  CHECK(statistics->stages().at(0).elements == 6);
  CHECK(entries.at("input/batch/elements_per_second").size() == 2);
  CHECK(entries.at("input/batch/wait_share")[1].second ==
        Approx(statistics->stages()[0].wait_share()).margin(0.5));
}

TEST_CASE("only the chief of three workers writes (115)", "[train][tensor_board]") {
  const TemporaryDirectory directory;
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    const std::string mine = directory / std::to_string(worker);
    fit({.log_dir = mine, .histogram_freq = 1, .update_freq = 1});
    require(fs::exists(mine) == (worker == 0), "who wrote");
  });
  CHECK(read_run(directory / "0/train").entries.at("epoch_loss").size() == 2);
}

TEST_CASE("a module's graph has its layers in order, with shapes and weights",
          "[train][module_graph]") {
  nn::Sequential net(
      nn::Conv2D({.filters = 4, .kernel_size = 3, .name = "conv"}), nn::Flatten(),
      nn::Sequential(nn::Dense({.units = 5, .name = "a"}), nn::Dense({.units = 2, .name = "b"})));
  net(zeros({1, 6, 6, 1}));
  std::map<std::string, summary::GraphNode> nodes;
  for (const auto& node : train::module_graph(net)) nodes[node.name] = node;
  const auto inputs = [&](const std::string& name) { return nodes.at(name).inputs; };
  using Names = std::vector<std::string>;
  CHECK(inputs("sequential_1/conv/conv2d") ==
        Names{"input", "sequential_1/conv/kernel", "sequential_1/conv/bias"});
  CHECK(inputs("sequential_1/flatten/flatten") == Names{"sequential_1/conv/conv2d"});
  CHECK(inputs("sequential_1/sequential/a/dense")[0] == "sequential_1/flatten/flatten");
  CHECK(inputs("sequential_1/sequential/b/dense")[0] == "sequential_1/sequential/a/dense");
  CHECK(nodes.at("sequential_1/conv/conv2d").output_shape == std::vector<int64_t>{-1, 4, 4, 4});
  CHECK(nodes.at("sequential_1/conv/kernel").output_shape == std::vector<int64_t>{3, 3, 1, 4});
  CHECK(nodes.size() == 11);
}

TEST_CASE("the real TensorBoard reads it all", "[train][tensor_board][slow]") {
  const TemporaryDirectory directory;
  const auto history = fit({.log_dir = directory / "run", .histogram_freq = 1, .update_freq = 1});
  {
    const auto top = summary::create_file_writer(directory.path());
    const auto scope = top.as_default();
    summary::hparams_config({{"rate", 0.1}, {"name", "sgd"}},
                            {{.tag = "epoch_loss", .group = "validation"}});
  }
  {
    const auto run = summary::create_file_writer(directory / "run");
    const auto scope = run.as_default();
    summary::hparams({{"rate", 0.1}, {"name", "sgd"}, {"norm", true}}, "first");
    summary::text("notes", "**bold**", 0);
    summary::image("picture", zeros({1, 4, 3, 1}), 0);
    summary::hparams_end();
  }
  const auto found = ask_tensorboard(directory.path());
  if (!found)
    SKIP("there is no TensorBoard (DISTRIBUTE_TENSORBOARD_PYTHON, pip install tensorboard)");
  const auto& runs = (*found)["runs"];
  const auto& train = runs.at("run/train");
  CHECK(train["scalars"]["epoch_loss"][1][1].get<double>() ==
        Approx(history.history.at("loss")[1]));
  CHECK(train["scalars"]["batch_loss"].size() == 6);
  CHECK(train["tags"]["hidden/kernel/histogram"] == "histograms");
  CHECK(train["graph"].size() == 7);
  CHECK(train["graph"][3][0] == "sequential/hidden/dense");
  CHECK(train["graph"][3][2].size() == 3);
  CHECK(runs.at("run/validation")["scalars"]["epoch_loss"].size() == 2);
  CHECK(runs.at("run")["tags"]["notes"] == "text");
  CHECK(runs.at("run")["tags"]["picture"] == "images");
  const auto& group = (*found)["hparams"]["groups"].at(0);
  CHECK(group["name"] == "first");
  CHECK(group["values"]["rate"] == 0.1);
  CHECK(group["values"]["name"] == "sgd");
  CHECK(group["values"]["norm"] == true);
  CHECK(group["status"][0] == 1);
  CHECK(group["metrics"]["validation/epoch_loss"].get<double>() ==
        Approx(history.history.at("val_loss")[1]));
  CHECK((*found)["hparams"]["experiment"] == nlohmann::json({"name", "rate"}));
}
