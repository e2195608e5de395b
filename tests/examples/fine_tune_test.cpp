/// fine_tune.cpp: a small model of Hugging Face's names learns a text by LoRA.

#include <distribute/language_models/gpt2.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/source_dir.hpp>
#include "teaching.hpp"

using namespace mnist_cluster;
namespace apps = distribute::applications;
namespace st = distribute::saving::safetensors;

namespace {

const apps::GPT2Options kOptions = {.vocabulary_size = 311,
                                    .num_layers = 1,
                                    .num_heads = 2,
                                    .hidden_dim = 16,
                                    .dropout = 0,
                                    .max_sequence_length = 32};

/// A folder with a model of random weights, and a text.
void write_folder(const TemporaryDirectory& own) {
  distribute::random::set_seed(3);
  apps::GPT2 model(kOptions);
  model(distribute::zeros({1, 1}, distribute::DType::Int32));
  distribute::saving::save_weights(model, own / "model.safetensors", {.names = apps::gpt2_names()});
  std::ofstream(own / "config.json")
      << R"({"model_type": "gpt2", "vocab_size": 311, "n_layer": 1, "n_head": 2, "n_embd": 16,)"
      << R"( "n_positions": 32, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})";
  fs::copy(distribute::testing::source_dir() + "/tests/preprocessing/tokenizers/gpt2.json",
           own / "tokenizer.json");
  std::ofstream text(own / "text");
  for (int i = 0; i < 40; ++i) text << "The quick brown fox.\n\nthe fox and 3 numbers\n\n";
}

Words flags(const TemporaryDirectory& own) {
  return {"--model=" + own.path(),
          "--text=" + (own / "text"),
          "--model_dir=" + (own / "out"),
          "--steps=100",
          "--context=16",
          "--batch=4",
          "--learning_rate=0.05",
          "--rank=4",
          "--layers=query,value,wte",
          "--prompt=The quick brown"};
}

ProgramResult fine_tune(const Words& words) {
  return run_program("text_transformer_fine_tune", words, "env -u TF_CONFIG OMP_NUM_THREADS=1");
}

/// The files that the program wrote: the merged weights are those of the folder, except for the
/// layers that have matrices.
void check_files(const TemporaryDirectory& own) {
  const st::Tensors before = st::load_file(own / "model.safetensors").tensors;
  const st::Tensors after = st::load_file(own / "out/model.safetensors").tensors;
  CHECK(st::load_file(own / "out/lora.safetensors").tensors.size() == 6);
  REQUIRE(before.size() == after.size());
  for (const auto& [name, value] : before) {
    INFO(name);
    const bool learns = name.ends_with("attn.c_attn.weight") || name.ends_with("wte.weight");
    CHECK((after.at(name).to_vector() != value.to_vector()) == learns);
  }
}

}  // namespace

TEST_CASE("fine_tune.cpp learns a text by small matrices", "[examples][teaching][lora]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_fine_tune");
  const TemporaryDirectory own;
  write_folder(own);
  const ProgramResult run = fine_tune(flags(own) + Words{"--recompute"});
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  const auto perplexities = numbers_after(run.out + run.err, "perplexity ");
  REQUIRE(perplexities.size() > 1);
  CHECK(perplexities.back() < 0.5 * perplexities.front());
  CHECK_THAT(run.out, Contains("\nThe quick brown"));
  check_files(own);
}

TEST_CASE("fine_tune.cpp learns on two workers", "[examples][teaching][lora][multiproc]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_fine_tune");
  const TemporaryDirectory own;
  write_folder(own);
  ProcessCluster cluster(job_of("text_transformer_fine_tune", 2, flags(own)));
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK_THAT(outcomes[0].out, Contains("\nThe quick brown"));
  CHECK(outcomes[1].out.find("\nThe quick brown") == std::string::npos);
  check_files(own);
}

TEST_CASE("fine_tune.cpp says what is wrong with its flags", "[examples][teaching][lora]") {
  SKIP_WITHOUT_PROGRAM("text_transformer_fine_tune");
  const TemporaryDirectory own;
  write_folder(own);
  const auto refuse = [&](const std::string& flag, const std::string& part) {
    const ProgramResult run = fine_tune(flags(own) + Words{flag});
    INFO(run.out << run.err);
    CHECK(run.status != 0);
    CHECK_THAT(run.out + run.err, Contains(part));
  };
  refuse("--model=", "--model: say which folder has the model");
  refuse("--kind=bert", "--kind must be gpt2 or llama, got bert");
  refuse("--steps=0", "--steps, --batch, --rank and --context must be at least 1");
  refuse("--rank=0", "--steps, --batch, --rank and --context must be at least 1");
  refuse("--layers=q_proj", "no layer with one of the target_layer_names");
  std::ofstream(own / "text") << "";
  refuse("--batch=2", "--text: there is no text");
}
