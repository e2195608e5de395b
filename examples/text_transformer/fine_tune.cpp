/// Fine-tunes a language model of Hugging Face by LoRA: two small matrices beside each large one
/// learn a text, on the devices of one machine or, started by `distribute run`, of several workers.
///
///   text_transformer_fine_tune --model=gpt2 --text=mine.txt
///   distribute run -np 2 -- text_transformer_fine_tune --model=gpt2 --text=mine.txt

#include <distribute/distribute.hpp>
#include <distribute/language_models.hpp>
#include <distribute/preprocessing.hpp>
#include <distribute/saving.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace dist = distribute;
namespace nn = dist::nn;
namespace apps = dist::applications;
namespace train = dist::train;

ABSL_FLAG(std::string, model, "", "folder with config.json, model.safetensors and tokenizer.json");
ABSL_FLAG(std::string, kind, "gpt2", "kind of model: gpt2 or llama");
ABSL_FLAG(std::string, text, "examples/text_transformer/data/kjv.txt",
          "what to learn; empty lines are between its documents");
ABSL_FLAG(std::string, model_dir, "fine_tuned", "where checkpoints and the results go");
ABSL_FLAG(int64_t, rank, 8, "columns of the small matrices");
ABSL_FLAG(double, alpha, 16, "their product counts alpha / rank times");
ABSL_FLAG(std::vector<std::string>, layers, std::vector<std::string>({"query", "value"}),
          "names of the layers that get them");
ABSL_FLAG(int64_t, context, 128, "tokens of a row");
ABSL_FLAG(int64_t, batch, 8, "rows of a replica in each step");
ABSL_FLAG(int64_t, steps, 200, "steps to train");
ABSL_FLAG(double, learning_rate, 1e-3, "at its highest; it ends at zero");
ABSL_FLAG(std::string, policy, "float32", "float32 or mixed_bfloat16");
ABSL_FLAG(bool, recompute, false, "compute blocks again on the way back, to save memory");
ABSL_FLAG(std::string, prompt, "In the beginning", "what the sample at the end begins with");

/// The network of the folder; its weights exist, and have the values of the file.
std::unique_ptr<apps::CausalLM> load(const std::string& folder, bool llama) {
  const std::string config = folder + "/config.json";
  std::unique_ptr<apps::CausalLM> model;
  if (llama) {
    apps::LlamaOptions options = apps::llama_options(config);
    options.recompute_grad = absl::GetFlag(FLAGS_recompute);
    model = std::make_unique<apps::Llama>(options);
  } else {
    apps::GPT2Options options = apps::gpt2_options(config);
    options.recompute_grad = absl::GetFlag(FLAGS_recompute);
    model = std::make_unique<apps::GPT2>(options);
  }
  (*model)(dist::zeros({1, 1}, dist::DType::Int32));
  dist::saving::load_weights(*model, folder + "/model.safetensors",
                             {.names = llama ? apps::llama_names() : apps::gpt2_names()});
  return model;
}

/// The tokens of each document of the text.
std::vector<std::vector<int64_t>> documents(const dist::preprocessing::Tokenizer& tokenizer) {
  std::ifstream file(absl::GetFlag(FLAGS_text));
  std::vector<std::vector<int64_t>> all;
  std::string document;
  for (std::string line; std::getline(file, line) || !document.empty();) {
    if (file && !line.empty()) {
      document += line + "\n";
      continue;
    }
    if (!document.empty()) all.push_back(tokenizer.encode(document));
    document.clear();
  }
  if (all.empty()) throw dist::InvalidArgumentError("--text: there is no text");
  return all;
}

void check_policy(const std::string& name) {
  if (name != "float32" && name != "mixed_bfloat16")
    throw dist::UsageError("--policy must be float32 or mixed_bfloat16, got " + name);
}

void run() {
  const std::string folder = absl::GetFlag(FLAGS_model), kind = absl::GetFlag(FLAGS_kind);
  if (folder.empty()) throw dist::UsageError("--model: say which folder has the model");
  if (kind != "gpt2" && kind != "llama")
    throw dist::UsageError("--kind must be gpt2 or llama, got " + kind);
  if (std::min({absl::GetFlag(FLAGS_steps), absl::GetFlag(FLAGS_batch), absl::GetFlag(FLAGS_rank),
                absl::GetFlag(FLAGS_context)}) < 1)
    throw dist::UsageError("--steps, --batch, --rank and --context must be at least 1");
  check_policy(absl::GetFlag(FLAGS_policy));
  const std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
  const auto scope = strategy->scope();
  nn::set_global_policy(nn::Policy(absl::GetFlag(FLAGS_policy)));

  const dist::preprocessing::BytePairTokenizer tokenizer(folder + "/tokenizer.json");
  const auto model = load(folder, kind == "llama");
  if (tokenizer.vocabulary_size() > model->vocabulary_size())
    throw dist::UsageError(dist::str_cat("--model: the tokenizer has ", tokenizer.vocabulary_size(),
                                         " tokens, the model ", model->vocabulary_size()));
  nn::enable_lora(*model, absl::GetFlag(FLAGS_rank),
                  {.target_layer_names = absl::GetFlag(FLAGS_layers),
                   .lora_alpha = absl::GetFlag(FLAGS_alpha)});

  const auto all = documents(tokenizer);
  const int64_t batch = absl::GetFlag(FLAGS_batch) * strategy->num_replicas_in_sync();
  const auto training = apps::pack_documents(all, absl::GetFlag(FLAGS_context))
                            .shuffle(1'000, {.seed = 1})
                            .repeat()
                            .batch(batch);
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  const dist::optim::CosineDecay rate{absl::GetFlag(FLAGS_learning_rate), steps};
  dist::optim::AdamW optimizer({.learning_rate = rate, .global_clipnorm = 1.0});
  train::Model trainer(*model);
  trainer.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .weighted_metrics = {nn::metrics::Perplexity({.from_logits = true})}});
  const std::string out = absl::GetFlag(FLAGS_model_dir);
  train::BackupAndRestore backup({.backup_dir = out, .delete_checkpoint = false});
  trainer.fit(training, {.epochs = (steps + 49) / 50,
                         .steps_per_epoch = std::min<int64_t>(steps, 50),
                         .callbacks = {backup}});

  dist::saving::save_lora_weights(*model, out + "/lora.safetensors");
  dist::saving::save_weights(*model, out + "/model.safetensors",
                             {.names = kind == "llama" ? apps::llama_names() : apps::gpt2_names()});
  if (!trainer.is_chief()) return;
  const std::vector<int64_t> prompt = tokenizer.encode(absl::GetFlag(FLAGS_prompt));
  const int64_t room = model->max_sequence_length() - int64_t(prompt.size());
  const auto text = apps::generate(*model, {prompt},
                                   {.max_new_tokens = std::clamp<int64_t>(room, 0, 64),
                                    .sampling = {.temperature = 0.8, .top_k = 40, .seed = 1}});
  std::printf("\n%s\n", tokenizer.decode(text[0]).c_str());
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
