#include "flags.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

using namespace distribute_tools;  // the rules of the table

namespace text_transformer {

namespace {

using examples::given;

/// The first flag that only training takes, beside --sample_only.
std::string problem_of_sample(const Options& o) {
  const std::set<std::string> taken{"model",         "device",          "seed",
                                    "policy",        "checkpoint_dir",  "job_dir",
                                    "deterministic", "init_checkpoint", "float32_matmul_precision"};
  for (const CommandFlag& flag : examples::trainer_flags())
    if (given(flag.name) && !taken.contains(flag.name))
      return absl::StrCat("--", flag.name, " does nothing with --sample_only");
  if (o.common.checkpoint_dir.empty() == o.common.init_checkpoint.empty())
    return "--sample_only takes the weights of --checkpoint_dir or of --init_checkpoint: give one";
  return "";
}

/// What one flag's rule cannot say.
std::string problem_between(const Options& o) {
  if (o.common.model != "decoder") return problem_of("model", o.common.model, one_of("decoder"));
  if (o.width % o.heads != 0)
    return absl::StrCat("--width=", o.width, " must be a multiple of --heads=", o.heads);
  for (const std::string flag : {"prompt", "temperature", "top_k", "sample_only"})
    if (o.sample_length == 0 && given(flag))
      return "--" + flag + " does nothing with --sample_length=0";
  if (o.prompt.empty()) return "--prompt must have a character";
  if (o.top_k > o.vocabulary)
    return absl::StrCat("--top_k=", o.top_k, " is more than --vocabulary=", o.vocabulary);
  for (const char c : o.prompt)
    if (static_cast<unsigned char>(c) >= o.vocabulary)
      return absl::StrCat("--prompt has a byte of ", int(static_cast<unsigned char>(c)),
                          "; --vocabulary=256 takes any text");
  return o.sample_only ? problem_of_sample(o) : "";
}

std::vector<CommandFlag> own_flags() {
  Rows<Options> own;
#define GROUP(heading) own.group = heading;
#define FLAG(type, name, value, rule, help) own.add(#name, &Options::name, rule, help);
#include "text_transformer_flags.inc"
#undef FLAG
#undef GROUP
  return {own.rows.begin(), own.rows.end()};
}

void follow_recipe(examples::TrainerOptions& o) {
  if (o.model.empty()) o.model = "decoder";
  if (!given("batch_size")) o.batch_size = 16;
  if (!given("optimizer")) o.optimizer = "adamw";
  if (!given("learning_rate")) o.learning_rate = 2e-3;
  if (!given("lr_schedule")) o.lr_schedule = "cosine";
  if (!given("decay_alpha") && o.lr_schedule == "cosine") o.decay_alpha = 0.05;
  if (!given("weight_decay")) o.weight_decay = 0.1;
  if (!given("clip_norm")) o.clip_norm = 1;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options o;
  const std::vector<CommandFlag> own = own_flags();
  o.common = examples::parse_options(
      argc, argv, "Trains a decoder on a text; see docs/text_transformer.md.", own, &o);
  follow_recipe(o.common);
  examples::check_flag(problem_between(o));
  o.common.more_flags = examples::agreed_values(own, &o);
  return o;
}

}  // namespace text_transformer
