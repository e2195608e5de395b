/// text_transformer as a user runs it: alone, on workers, with servers, its sample and its files.

#include "mnist_cluster.hpp"
#include "run_output.hpp"

#include <distribute/distribute.hpp>
#include <distribute/saved_model.hpp>

#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
namespace dist = distribute;

namespace {

constexpr int64_t kContext = 16;

const Words kNetwork{"--layers=1", "--width=16", "--heads=2", "--context=16", "--sample_length=20"};

/// The beginning of the bundled text: enough to learn from, quick to test with.
class SmallText {
 public:
  SmallText() {
    std::ofstream(directory_ / "text.txt")
        << file_text(distribute::testing::source_dir() + "/examples/text_transformer/data/kjv.txt")
               .substr(0, 12'000);
  }
  Words flags() const {
    return kNetwork + Words{"--batch_size=12", "--data_dir=" + directory_.path()};
  }

 private:
  TemporaryDirectory directory_;
};

ProgramResult run_text(const Words& flags) {
  return run_program("text_transformer", flags, "env -u TF_CONFIG OMP_NUM_THREADS=1");
}

ProgramResult trained(const Words& flags) {
  const ProgramResult run = run_text(flags);
  INFO(run.err);
  REQUIRE(run.status == 0);
  return run;
}

/// What stands between the empty lines at the end.
std::string sample_in(const std::string& out) {
  const size_t at = out.find("\n\n");
  REQUIRE(at != std::string::npos);
  return out.substr(at + 2, out.size() - at - 3);
}

RunOutput train_alone(const Words& flags) {
  const TemporaryDirectory out;
  trained(flags + output_flags(out));
  return read_output(out);
}

RunOutput train_workers(const Words& flags) {
  const TemporaryDirectory out;
  ProcessCluster(cluster_options(3, flags + output_flags(out), {},
                                 distribute::testing::binary_dir() + "/text_transformer"))
      .join();
  return read_output(out);
}

void check_complaint(const Words& flags, int status, const std::string& text) {
  const ProgramResult run = run_text(flags);
  INFO(flags.back() << "\n" << run.err);
  CHECK(run.status == status);
  CHECK_THAT(run.err, Contains(text));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("text_transformer learns, reports and samples; its weights give the same sample later",
          "[examples][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const SmallText text;
  const TemporaryDirectory out;
  const std::string prompt = "--prompt=And the ";
  const ProgramResult run = trained(
      text.flags() +
      Words{"--steps=100", "--learning_rate=0.01", prompt, "--checkpoint_dir=" + (out / "ckpt"),
            "--final_checkpoint=" + (out / "final"), "--json=" + (out / "report.json")});
  CHECK_THAT(run.out,
             Contains("step 100  loss ") && Contains(" tokens/s") && Contains("  perplexity "));
  const Json report = Json::parse(file_text(out / "report.json"));
  CHECK(report["test_loss"] < 3.0);  // log(50) is 3.9
  CHECK(report["test_perplexity"].get<double>() ==
        Approx(std::exp(report["test_loss"].get<double>())));
  CHECK(report["tokens_per_second"].get<double>() ==
        Approx(kContext * report["images_per_second"].get<double>()));
  CHECK(report["global_batch"] == 12);
  CHECK(report["parameters"] == 128 * 16 + 16 * 16 + 4 * (16 * 16 + 16) + 16 * 64 + 64 + 64 * 16 +
                                    16 + 3 * 32 + 16 * 128 + 128);

  const std::string sample = sample_in(run.out);
  CHECK(sample.size() == 8 + 20);
  CHECK(sample.starts_with("And the "));
  const auto later = [&](const Words& more) {
    return trained(kNetwork + Words{"--sample_only", prompt} + more).out;
  };
  const Words newest{"--checkpoint_dir=" + (out / "ckpt")};
  CHECK(later(newest) == sample + "\n");
  CHECK(later({"--init_checkpoint=" + (out / "final")}) == sample + "\n");
  CHECK(later(newest + Words{"--seed=2"}) != sample + "\n");
  CHECK(later(newest + Words{"--temperature=0", "--seed=2"}) == later(newest + Words{"--top_k=1"}));
}

TEST_CASE("text_transformer goes on with the bits of a run that was not stopped",
          "[examples][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const SmallText text;
  const TemporaryDirectory out;
  const Words flags = text.flags() + Words{"--decay_steps=6"};
  const RunOutput whole = train_alone(flags + Words{"--steps=6", "--warmup_steps=2"});
  const Words here{"--checkpoint_dir=" + (out / "ckpt"), "--warmup_steps=2"};
  trained(flags + here + Words{"--steps=4"});
  const ProgramResult rest = trained(flags + here + output_flags(out) + Words{"--steps=6"});
  CHECK_THAT(rest.out, Contains("at step 4"));
  const RunOutput resumed = read_output(out);
  CHECK((resumed.weights == whole.weights));
  const std::string head = "step,loss,grad_norm\n";
  CHECK(whole.losses.ends_with("\n" + resumed.losses.substr(head.size())));
}

TEST_CASE("text_transformer computes blocks again, parts of a batch and 16 bits with one result",
          "[examples][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const SmallText text;
  const Words flags = text.flags() + Words{"--steps=4", "--warmup_steps=0", "--dropout=0.1"};
  const RunOutput plain = train_alone(flags);
  CHECK((train_alone(flags + Words{"--recompute"}) == plain));
  const auto last_loss = [&](const Words& more) {
    const TemporaryDirectory out;
    trained(text.flags() + Words{"--steps=4", "--json=" + (out / "report.json")} + more);
    return Json::parse(file_text(out / "report.json"))["loss"].get<double>();
  };
  const double once = last_loss({});
  CHECK(last_loss({"--accumulate_steps=3"}) == Approx(once).epsilon(1e-4));
  CHECK(last_loss({"--policy=mixed_bfloat16"}) == Approx(once).epsilon(0.02));
}

TEST_CASE("three workers of text_transformer give the bits of one process with three replicas",
          "[examples][text][multiproc]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const SmallText text;
  const Words flags = text.flags() + Words{"--steps=4"};
  const RunOutput alone = train_alone(flags + Words{"--replicas=3"});
  CHECK((train_workers(flags) == alone));
  CHECK((train_workers(flags + Words{"--api=horovod"}) == alone));
  CHECK((train_workers(flags + Words{"--elastic"}) == alone));
}

TEST_CASE("text_transformer trains on parameter servers, whose chief prints the sample",
          "[examples][text][parameter_server][multiproc]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const bool chief = GENERATE(false, true);
  CAPTURE(chief);
  const SmallText text;
  const TemporaryDirectory out;
  auto options = cluster_options(
      3,
      text.flags() + Words{"--steps=60", "--learning_rate=0.01", "--json=" + (out / "report.json")},
      {}, distribute::testing::binary_dir() + "/text_transformer");
  options.parameter_servers = 2;
  options.chief = chief;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  int samples = 0;
  for (const TaskOutcome& outcome : outcomes)
    samples += outcome.out.find("\n\nIn the beginning ") != std::string::npos;
  CHECK(samples == 1);
  const Json report = Json::parse(file_text(out / "report.json"));
  CHECK(report["workers"] == 3);
  CHECK(report["test_loss"] < 3.3);
  CHECK(report["tokens_per_second"].get<double>() > 0);
}

TEST_CASE("the SavedModel of text_transformer continues a text as the program does",
          "[examples][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  const SmallText text;
  const TemporaryDirectory out;
  const ProgramResult run =
      trained(text.flags() + Words{"--steps=40", "--learning_rate=0.01", "--temperature=0",
                                   "--prompt=And the e", "--sample_length=6", "--recompute",
                                   "--export_dir=" + (out / "saved"),
                                   "--export_onnx=" + (out / "text.onnx")});
  const auto loaded = dist::saved_model::load(out / "saved").signature();
  std::string continued = "And the e";
  while (continued.size() < 9 + 6) {
    std::vector<int32_t> tokens(continued.begin(), continued.end());
    tokens.resize(kContext);
    const dist::Tensor best = dist::argmax(loaded(dist::Tensor({1, kContext}, tokens)), -1);
    continued += char(best.data<int64_t>()[continued.size() - 1]);
  }
  CHECK(sample_in(run.out) == continued);
  CHECK(!file_text(out / "text.onnx").empty());
}

TEST_CASE("wrong flags and texts of text_transformer give one line", "[examples][text]") {
  SKIP_WITHOUT_PROGRAM("text_transformer");
  check_complaint({"--width=100", "--heads=3"}, 2, "--width=100 must be a multiple of --heads=3");
  check_complaint({"--model=encoder"}, 2, "it takes decoder");
  check_complaint({"--dropout=1"}, 2, "--dropout must be in [0, 1)");
  check_complaint({"--prompt="}, 2, "--prompt must have a character");
  check_complaint({"--prompt=caf\xc3\xa9"}, 2, "--vocabulary=256 takes any text");
  check_complaint({"--top_k=200"}, 2, "--top_k=200 is more than --vocabulary=128");
  check_complaint({"--sample_length=0", "--top_k=3"}, 2, "does nothing with --sample_length=0");
  check_complaint({"--sample_only"}, 2, "--checkpoint_dir or of --init_checkpoint: give one");
  check_complaint({"--sample_only", "--steps=3"}, 2, "--steps does nothing with --sample_only");
  check_complaint({"--sample_only", "--checkpoint_dir=/no/such/place"}, 1, "/no/such/place");
  check_complaint({"--data_dir=/no/such/place"}, 1, "/no/such/place");
  const TemporaryDirectory data;
  const auto write = [&](const std::string& text) { std::ofstream(data / "a.txt") << text; };
  const std::string here = "--data_dir=" + data.path();
  write(std::string(100, 'a'));
  check_complaint({here}, 2, "the text has 100 characters");
  write(std::string(5'000, 'a') + "\xc3\xa9");
  check_complaint({here}, 2, "byte 5000 is 195, beyond --vocabulary=128");
  check_complaint({here, "--vocabulary=256", "--batch_size=100"}, 2, "37 pieces of text");
}
