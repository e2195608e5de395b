#include <distribute/train/callbacks.hpp>
#include <distribute/train/progress.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/memory_file.hpp>
#include <tests/support/metric_value.hpp>
#include <tests/train/small_model.hpp>

#include <algorithm>
#include <cmath>
#include <regex>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace distribute;
using Catch::Matchers::EndsWith;
using train::Progress;
using train::ProgressOptions;

TEST_CASE("where there is no terminal a line is printed now and then", "[train][progress]") {
  MemoryFile output;
  double now = 0;
  Progress progress(
      {.total_steps = 250, .batch_size = 50, .out = output.file, .clock = [&] { return now; }});
  for (int64_t step = 1; step <= 250; ++step) {
    now += 0.01;
    progress.step_done(step, {{"loss", 0.23118}});
  }
  progress.finish();
  CHECK(output.str() ==
        "step 100  loss 0.2312  5000 images/s  eta 0:02\n"
        "step 200  loss 0.2312  5000 images/s  eta 0:01\n"
        "step 250  loss 0.2312  5000 images/s  eta 0:00\n");
  CHECK(progress.examples_per_second() == Approx(5000));
  CHECK(progress.step_seconds(0.5) == Approx(0.01));
  CHECK(progress.steps_timed() == 250);
}

TEST_CASE("on a terminal a bar grows, ten times a second at most", "[train][progress]") {
  MemoryFile output;
  double now = 100;
  {
    Progress progress(
        {.first_step = 10, .total_steps = 20, .out = output.file, .terminal = true, .clock = [&] {
           return now;
         }});
    now += 0.15;
    progress.step_done(11, {{"loss", 1}});
    now += 0.01;
    progress.step_done(12, {{"loss", 1}});  // too soon
    now += 0.5;
    progress.step_done(13, {{"loss", 1}});
  }
  const std::string text = output.str();
  CHECK_THAT(text, Contains("\r11/20  55% [================              ]  loss 1.0000"));
  CHECK_THAT(text, Contains("13/20") && !Contains("12/20") && Contains("steps/s"));
  CHECK(text.back() == '\n');
}

TEST_CASE("a line about all steps takes the place of the bar", "[train][progress]") {
  const bool terminal = GENERATE(true, false);
  CAPTURE(terminal);
  MemoryFile output;
  double now = 0;
  Progress progress({.total_steps = 90,
                     .batch_size = 16,
                     .unit = "examples",
                     .out = output.file,
                     .terminal = terminal,
                     .clock = [&] { return now; },
                     .is_whole_run = false});
  for (int64_t step = 1; step <= 90; ++step) now += 0.02, progress.step_done(step, {{"loss", 2}});
  now += 1.2;  // validation, which is no part of the speed
  progress.finish(90, {{"loss", 1}, {"val_loss", 3}});
  const std::string text = output.str(), bar = "[==============================]";
  const std::string end = "  0:03  800 examples/s  loss 1.0000  val_loss 3.0000";
  if (!terminal) CHECK(text == "90/90" + end + "\n");
  if (terminal) CHECK_THAT(text, EndsWith("\r90/90 100% " + bar + end + "\x1b[K\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("a line of fewer steps than planned says so", "[train][progress]") {
  MemoryFile output;
  Progress progress({.total_steps = 200, .out = output.file, .terminal = true});
  progress.step_done(1, {});
  progress.finish(100, {});
  CHECK_THAT(output.str(), Contains("\r  1/200   0% [ ") &&
                               Contains("\r100/200  50% [===============               ]"));
}

TEST_CASE("no bar goes to the terminal that Open MPI gives a rank", "[train][progress]") {
  const int leader = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(leader >= 0);
  REQUIRE(::grantpt(leader) == 0);
  REQUIRE(::unlockpt(leader) == 0);
  const auto text_on_terminal = [&](const train::Logs& figures, unsigned short columns) {
    std::FILE* const terminal = std::fopen(::ptsname(leader), "w");
    REQUIRE(terminal);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(::ioctl(::fileno(terminal), TIOCSWINSZ, &size) == 0);
    {
      Progress progress({.total_steps = 1, .out = terminal});
      progress.step_done(1, figures);
    }
    std::fputs("end\n", terminal);
    std::fflush(terminal);
    std::string text;
    char bytes[1000];
    while (text.find("end") == std::string::npos) {
      const ssize_t size = ::read(leader, bytes, sizeof bytes);
      REQUIRE(size > 0);
      text.append(bytes, size_t(size));
    }
    std::fclose(terminal);
    return text;
  };
  const train::Logs one{{"loss", 1}}, long_line{{"a_figure_with_a_long_name", 1}};
  CHECK_THAT(text_on_terminal(one, 0), Contains("[===") && Contains("\x1b[K"));
  // A bar that went on in a second line could not be drawn over.
  CHECK_THAT(text_on_terminal(long_line, 30), Contains("[=====]  a_figure_wi\x1b[K"));
  // It gives up its own columns first.
  const std::string narrow = text_on_terminal(long_line, 80);
  INFO(narrow);
  CHECK_THAT(narrow,
             Contains("=]  a_figure_with_a_long_name 1.0000  ") && Contains("/s  eta 0:00\x1b[K"));
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  CHECK_THAT(text_on_terminal(one, 0), StartsWith("step 1  loss 1.0000") && !Contains("\x1b"));
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::setenv("PMIX_RANK", "1", 1);
  CHECK_THAT(text_on_terminal(one, 0), !Contains("[===") && !Contains("\x1b"));
  ::unsetenv("PMIX_RANK");
  ::close(leader);
}

TEST_CASE("nothing is printed on other workers, and times count on", "[train][progress]") {
  MemoryFile output;
  Progress progress({.total_steps = 2, .prints = false, .out = output.file, .terminal = true});
  progress.step_done(1, {});
  progress.step_done(2, {});
  progress.finish();
  CHECK(output.str().empty());
  CHECK(progress.steps_timed() == 2);
}

TEST_CASE("times and figures are written short", "[train][progress]") {
  CHECK(train::clock_text(0) == "0:00");
  CHECK(train::clock_text(61.6) == "1:02");
  CHECK(train::clock_text(3661) == "1:01:01");
  CHECK(train::figures_text({{"loss", 0.5}, {"rate", 1e-5}, {"big", 3e7}, {"none", 0}}) ==
        "  loss 0.5000  rate 1e-05  big 3e+07  none 0.0000");
}

TEST_CASE("fit shows each epoch as one line", "[train][progress_logger]") {
  MemoryFile output;
  SmallModel model;
  const auto verbose = GENERATE(train::Verbose::Progress, train::Verbose::Epochs);
  model.fit(small_data(12).batch(4),
            {.epochs = 2,
             .validation_data = small_data(8).batch(4),
             .callbacks = {train::ProgressLogger({.verbose = verbose, .out = output.file})},
             .verbose = train::Verbose::Silent});
  const std::string line =
      "/2\n3/3  0:00  [0-9.]+ examples/s  loss [0-9.]+  accuracy [0-9.]+"
      "  val_loss [0-9.]+  val_accuracy [0-9.]+\n";
  INFO(output.str());
  CHECK(std::regex_match(output.str(), std::regex("Epoch 1" + line + "Epoch 2" + line)));
}

TEST_CASE("fit's bar ends with all steps, and takes executions of several",
          "[train][progress_logger]") {
  MemoryFile output;
  nn::Sequential net = small_net();
  optim::SGD optimizer;
  train::Model model(net);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .steps_per_execution = 2});
  model.fit(small_data(12).batch(4),
            {.callbacks = {train::ProgressLogger({.out = output.file, .terminal = true})},
             .verbose = train::Verbose::Silent});
  INFO(output.str());
  CHECK_THAT(output.str(), StartsWith("Epoch 1/1\n\r") &&
                               Contains("\r3/3 100% [==============================]  0:00"));
  const std::string text = output.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("the metrics' port has loss and time left of fit, epochs together", "[train][run_pace]") {
  SmallModel model;
  std::vector<double> left;
  const auto note = [&](int64_t, train::Logs& logs) {
    CHECK(metric_value("distribute_train_loss") == Approx(logs.at("loss")).margin(1e-6));
    left.push_back(metric_value("distribute_train_seconds_left"));
  };
  model.fit(small_data(12).batch(4), {.epochs = 3,
                                      .callbacks = {train::LambdaCallback({.on_epoch_end = note})},
                                      .verbose = train::Verbose::Silent});
  CHECK(left.at(0) > 0);
  CHECK(left.at(1) > 0);
  CHECK(left.at(2) == 0);
}

TEST_CASE("a loss that is no number is shown as the largest one", "[train][run_pace]") {
  Progress progress({.total_steps = 4, .prints = false});
  progress.step_done(2, {{"loss", std::nan("")}});
  CHECK(metric_value("distribute_train_loss") > 9e12);
  CHECK(metric_value("distribute_train_seconds_left") > 0);
  progress.step_done(4, {{"loss", 0.25}});
  CHECK(metric_value("distribute_train_loss") == 0.25);
  CHECK(metric_value("distribute_train_seconds_left") == 0);
}
