/// A model of characters: a decoder-only transformer that learns to continue a text, on the devices
/// of one machine or, started by `distribute run`, on those of several workers.
///
///   text_transformer_decoder --steps=1000
///   distribute run -np 2 -- text_transformer_decoder

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;
using dist::Tensor;

ABSL_FLAG(std::string, text, "examples/text_transformer/data/kjv.txt", "what to learn, ASCII");
ABSL_FLAG(std::string, model_dir, "text_model", "where checkpoints go; training goes on from them");
ABSL_FLAG(int64_t, steps, 1'000, "steps to train");
ABSL_FLAG(std::string, policy, "float32", "float32 or mixed_bfloat16");
ABSL_FLAG(int64_t, accumulate, 1, "batches whose gradients make one update");
ABSL_FLAG(bool, recompute, false, "compute blocks again on the way back, to save memory");
ABSL_FLAG(std::string, prompt, "In the beginning ", "what the sample at the end begins with");
ABSL_FLAG(double, temperature, 0.8, "of the sample: below 1 likely characters become likelier");
ABSL_FLAG(int, top_k, 10, "number of likeliest characters that the sample is drawn from");

constexpr int64_t kContext = 128, kWidth = 128, kHeads = 4, kBlocks = 4, kCharacters = 128;

/// Attention to the characters before, then two dense layers; each adds to what came in.
class Block : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    const Tensor y = x + attention_(norm1_(x, options), options);
    return y + out_(hidden_(norm2_(y, options), options), options);
  }
  nn::LayerNormalization& norm1_ = add("norm1", nn::LayerNormalization());
  nn::MultiHeadAttention& attention_ = add(
      "attention", nn::MultiHeadAttention(
                       {.num_heads = kHeads, .key_dim = kWidth / kHeads, .use_causal_mask = true}));
  nn::LayerNormalization& norm2_ = add("norm2", nn::LayerNormalization());
  nn::Dense& hidden_ = add("hidden", nn::Dense({.units = 4 * kWidth, .activation = nn::gelu}));
  nn::Dense& out_ = add("out", nn::Dense({.units = kWidth}));
};

/// Characters [batch, places] -> logits of the next one at every place [batch, places,
/// kCharacters].
class Decoder : public nn::Module {
 public:
  Decoder() {
    for (int64_t i = 0; i < kBlocks; ++i) blocks_.append(Block());
    head_.set_dtype_policy(nn::Policy("float32"));
  }

 private:
  Tensor call(const Tensor& tokens, nn::CallOptions options) override {
    const Tensor places = dist::range(int32_t(tokens.shape()[1]));
    Tensor x = characters_(tokens, options) + places_(places, options);
    for (Block& block : blocks_) {
      const auto again = [&block, options](const auto& in) { return block(in[0], options); };
      x = absl::GetFlag(FLAGS_recompute) ? dist::recompute_grad(again, {x}) : block(x, options);
    }
    return head_(norm_(x, options), options);
  }
  nn::Embedding& characters_ =
      add("characters", nn::Embedding({.input_dim = kCharacters, .output_dim = kWidth}));
  nn::Embedding& places_ =
      add("places", nn::Embedding({.input_dim = kContext, .output_dim = kWidth}));
  nn::ModuleList<Block>& blocks_ = add("blocks", nn::ModuleList<Block>());
  nn::LayerNormalization& norm_ = add("norm", nn::LayerNormalization());
  nn::Dense& head_ = add("head", nn::Dense({.units = kCharacters}));
};

/// Pieces of the text with, as targets, what follows each character.
dist::data::Dataset pieces(const std::string& text) {
  const int64_t count = (int64_t(text.size()) - 1) / kContext;
  const auto from = [&](int64_t first) {
    const auto begin = text.begin() + first;
    return Tensor({count, kContext}, std::vector<int32_t>(begin, begin + count * kContext));
  };
  return dist::data::Dataset::from_tensor_slices(from(0), from(1));
}

/// The text with `length` characters more, each drawn from what the model thinks of the last ones.
std::string continued(nn::Module& model, std::string text, int length) {
  for (int i = 0; i < length; ++i) {
    const std::string last = text.substr(text.size() - std::min(text.size(), size_t(kContext)));
    const int64_t places = int64_t(last.size());
    const Tensor logits =
        model(Tensor({1, places}, std::vector<int32_t>(last.begin(), last.end())));
    const auto best = dist::top_k(dist::slice(logits, {0, places - 1, 0}, {1, 1, -1}),
                                  absl::GetFlag(FLAGS_top_k));
    const Tensor scores = best.values / absl::GetFlag(FLAGS_temperature);
    const Tensor drawn = dist::random::categorical(dist::reshape(scores, {1, -1}), 1, uint64_t(i));
    text += char(best.indices.data<int32_t>()[size_t(drawn.item<int64_t>())]);
  }
  return text;
}

void run() {
  if (absl::GetFlag(FLAGS_steps) < 1 || absl::GetFlag(FLAGS_accumulate) < 1 ||
      absl::GetFlag(FLAGS_top_k) < 1)
    throw dist::UsageError("--steps, --accumulate and --top_k must be at least 1");
  if (absl::GetFlag(FLAGS_temperature) <= 0)
    throw dist::UsageError("--temperature must be above 0");
  const std::string policy = absl::GetFlag(FLAGS_policy);
  if (policy != "float32" && policy != "mixed_bfloat16")
    throw dist::UsageError("--policy must be float32 or mixed_bfloat16, got " + policy);
  const std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
  const auto scope = strategy->scope();
  nn::set_global_policy(nn::Policy(policy));

  std::ifstream file(absl::GetFlag(FLAGS_text));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 100 * kContext) throw dist::InvalidArgumentError("--text: too little text");
  const size_t end = text.size() / 20 * 19;  // the rest is for the test
  const int64_t batch = 16 * strategy->num_replicas_in_sync();
  const auto training =
      pieces(text.substr(0, end)).shuffle(8'000, {.seed = 1}).repeat().batch(batch);

  Decoder model;
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  const dist::optim::CosineDecay rate{0.0, steps, 0.1, 2e-3, 100};  // up in 100 steps, then down
  dist::optim::AdamW optimizer(
      {.learning_rate = rate, .weight_decay = 0.1, .global_clipnorm = 1.0});
  optimizer.exclude_from_weight_decay({"bias", "gamma", "beta"});
  train::Model trainer(model);
  trainer.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::Perplexity({.from_logits = true})},
                   .gradient_accumulation_steps = absl::GetFlag(FLAGS_accumulate)});

  train::BackupAndRestore backup(
      {.backup_dir = absl::GetFlag(FLAGS_model_dir), .delete_checkpoint = false});
  trainer.fit(training, {.epochs = (steps + 99) / 100,
                         .steps_per_epoch = std::min<int64_t>(steps, 100),
                         .callbacks = {backup}});
  const train::Logs test = trainer.evaluate(pieces(text.substr(end)).batch(batch));
  if (!trainer.is_chief()) return;
  std::printf("test loss %.4f, perplexity %.3f\n\n%s\n", test.at("loss"), test.at("perplexity"),
              continued(model, absl::GetFlag(FLAGS_prompt), 400).c_str());
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
