#include <distribute/train/callbacks.hpp>
#include <distribute/train/progress.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/memory_file.hpp>
#include <tests/train/small_model.hpp>

#include <regex>

#include <fcntl.h>
#include <unistd.h>

using namespace distribute;
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
  CHECK_THAT(text, Contains("\r[================              ] step 11  loss 1.0000"));
  CHECK_THAT(text, Contains("step 13") && !Contains("step 12") && Contains("steps/s"));
  CHECK(text.back() == '\n');
}

TEST_CASE("no bar goes to the terminal that Open MPI gives a rank", "[train][progress]") {
  const int leader = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(leader >= 0);
  REQUIRE(::grantpt(leader) == 0);
  REQUIRE(::unlockpt(leader) == 0);
  const auto text_on_terminal = [&] {
    std::FILE* const terminal = std::fopen(::ptsname(leader), "w");
    REQUIRE(terminal);
    {
      Progress progress({.total_steps = 1, .out = terminal});
      progress.step_done(1, {{"loss", 1}});
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
  CHECK_THAT(text_on_terminal(), Contains("[===") && Contains("\x1b[K"));
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  CHECK_THAT(text_on_terminal(), StartsWith("step 1  loss 1.0000") && !Contains("\x1b"));
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::setenv("PMIX_RANK", "1", 1);
  CHECK_THAT(text_on_terminal(), !Contains("[===") && !Contains("\x1b"));
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

TEST_CASE("fit shows its epochs", "[train][progress_logger]") {
  MemoryFile output;
  SmallModel model;
  const auto verbose = GENERATE(train::Verbose::Progress, train::Verbose::Epochs);
  model.fit(small_data(12).batch(4),
            {.epochs = 2,
             .callbacks = {train::ProgressLogger({.verbose = verbose, .out = output.file})},
             .verbose = train::Verbose::Silent});
  const std::string lines = verbose == train::Verbose::Progress
                                ? "(step 3  loss [0-9.]+  [0-9.]+ examples/s  eta 0:00\n)"
                                : "()";
  const std::string end = "3 steps  0:00  loss [0-9.]+  accuracy [0-9.]+\n";
  // The first epoch's length is not known beforehand to a logger of one's own.
  const std::regex wanted("Epoch 1/2\n" + end + "Epoch 2/2\n" + lines + end);
  INFO(output.str());
  CHECK(std::regex_match(output.str(), wanted));
}
