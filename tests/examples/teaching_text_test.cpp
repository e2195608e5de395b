/// decoder.cpp: a text, and blocks that are computed again.

#include <tests/support/source_dir.hpp>
#include "teaching.hpp"

using namespace mnist_cluster;

namespace {

/// The beginning of the text, with a tenth of the pieces that each program tests itself with.
std::string write_text(const TemporaryDirectory& directory) {
  const std::string whole =
      file_text(distribute::testing::source_dir() + "/examples/text_transformer/data/kjv.txt");
  std::ofstream(directory / "text") << whole.substr(0, whole.size() / 10);
  return directory / "text";
}

Words text_run(const TemporaryDirectory& directory, const Words& more) {
  return Words{"--text=" + write_text(directory), "--model_dir=" + (directory / "model"),
               "--steps=20"} +
         more;
}

/// What a run in one process prints behind its training.
std::string result_of(const Words& more) {
  const TemporaryDirectory directory;
  const ProgramResult run = run_program("text_transformer_decoder", text_run(directory, more),
                                        "env -u TF_CONFIG OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  CHECK(fs::exists(directory / "model/chief"));
  return run.out.substr(run.out.find("test loss "));
}

}  // namespace

TEST_CASE("decoder.cpp learns to continue a text, with blocks computed again the same numbers",
          "[examples][teaching][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_decoder");
  const std::string plain = result_of({});
  CHECK(accuracy_in(plain, "test loss ") < 3.3);  // log(63) is 4.1
  CHECK_THAT(plain, Contains("\n\nIn the beginning "));
  CHECK(result_of({"--recompute"}) == plain);
}

TEST_CASE("decoder.cpp learns in mixed precision with parts of a batch",
          "[examples][teaching][text][policy]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_decoder");
  const std::string mixed = result_of({"--policy=mixed_bfloat16", "--accumulate=2"});
  CHECK(accuracy_in(mixed, "test loss ") < 3.6);
}

TEST_CASE("decoder.cpp learns on two workers", "[examples][teaching][text][multiproc]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_decoder");
  const TemporaryDirectory directory;
  ProcessCluster cluster(job_of("text_transformer_decoder", 2, text_run(directory, {})));
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK(accuracy_in(outcomes[0].out, "test loss ") < 3.3);
  CHECK(outcomes[1].out.find("test loss") == std::string::npos);
}
