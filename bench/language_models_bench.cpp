/// What training and generation with a language model hold in memory, and how fast tokens come.
///
///   language_models_bench [blocks width heads batch tokens]

#include <distribute/distribute.hpp>
#include <distribute/language_models.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace dist = distribute;
namespace nn = dist::nn;
namespace apps = dist::applications;

namespace {

struct Sizes {
  int64_t blocks = 12, width = 768, heads = 12, batch = 4, tokens = 256;
};

apps::GPT2Options options_of(const Sizes& s) {
  return {.vocabulary_size = 1'000,
          .num_layers = s.blocks,
          .num_heads = s.heads,
          .hidden_dim = s.width,
          .attention_dropout = 0,  // scores are computed block by block
          .max_sequence_length = 2 * s.tokens};
}

double mebibytes(int64_t bytes) { return double(bytes) / (1 << 20); }

/// One step of training: what is held behind the forward pass, the most at any time, and the time.
void train(const Sizes& s, bool recompute_grad, int64_t rank) {
  apps::GPT2Options options = options_of(s);
  options.recompute_grad = recompute_grad;
  apps::GPT2 model(options);
  model(dist::zeros({1, 1}, dist::DType::Int32));
  if (rank > 0) nn::enable_lora(model, rank);
  const auto x = dist::zeros({s.batch, s.tokens}, dist::DType::Int32);
  const auto variables = model.trainable_variables();
  int64_t trained = 0;
  for (const dist::Variable& v : variables) trained += v.shape().num_elements();
  dist::optim::Adam adam({});
  for (int step = 0; step < 2; ++step) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t before = dist::memory_info(dist::Device{}).current;
    dist::GradientTape tape;
    const auto loss = dist::reduce_mean(nn::sparse_categorical_crossentropy(
        x, model(x, {.training = true}), {.from_logits = true}));
    const int64_t held = dist::memory_info(dist::Device{}).current - before;
    adam.apply_gradients(tape.gradient(loss, variables), variables);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (step > 0)
      std::printf(
          "recompute_grad %d, LoRA rank %2d: %9.1f MiB held, %6.2f s a step, %lld trained, "
          "%.1f MiB of gradients\n",
          int(recompute_grad), int(rank), mebibytes(held), took.count(),
          static_cast<long long>(trained), mebibytes(4 * trained));
  }
}

/// Generation with and without the cache.
void generate(const Sizes& s, bool use_cache) {
  apps::GPT2 model(options_of(s));
  model(dist::zeros({1, 1}, dist::DType::Int32));
  const std::vector<int64_t> prompt(16, 1);
  int64_t least = INT64_MAX, most = 0, tokens = 0;
  const auto start = std::chrono::steady_clock::now();
  apps::generate(model, {prompt}, {.max_new_tokens = s.tokens, .use_cache = use_cache});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  apps::generate(model, {prompt},
                 {.max_new_tokens = s.tokens,
                  .on_token =
                      [&](size_t, int64_t) {
                        if (++tokens < 4) return true;
                        const int64_t now = dist::memory_info(dist::Device{}).current;
                        least = std::min(least, now);
                        most = std::max(most, now);
                        return true;
                      },
                  .use_cache = use_cache});
  std::printf("cache %d: %7.1f tokens a second, memory in use grows by %lld bytes\n",
              int(use_cache), double(s.tokens) / took.count(),
              static_cast<long long>(most - least));
}

}  // namespace

int main(int argc, char** argv) {
  Sizes s;
  int64_t* const fields[] = {&s.blocks, &s.width, &s.heads, &s.batch, &s.tokens};
  for (int i = 1; i < argc && i <= 5; ++i) *fields[i - 1] = std::atoll(argv[i]);
  for (const int64_t rank : {int64_t{0}, int64_t{8}})
    for (const bool again : {false, true}) train(s, again, rank);
  for (const bool use_cache : {true, false}) generate(s, use_cache);
}
