// docs/language_models.md shows lines of this file; tools/check_programs.py compares them.
#include <distribute/distribute.hpp>
#include <distribute/language_models.hpp>
#include <distribute/preprocessing.hpp>
#include <distribute/saving.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

namespace dist = distribute;

TEST_CASE("the page generates text with a folder of Hugging Face", "[docs][language_models]") {
  const std::string folder =
      distribute::testing::source_dir() + "/tests/language_models/files/llama";
  namespace apps = dist::applications;
  apps::Llama model(apps::llama_options(folder + "/config.json"));
  model(dist::zeros({1, 1}, dist::DType::Int32));  // weights exist after the first call
  dist::saving::load_weights(model, folder + "/model.safetensors", {.names = apps::llama_names()});

  const std::vector<std::vector<int64_t>> prompts = {{5, 17, 3, 9, 30}, {7, 7}};
  const auto texts = apps::generate(
      model, prompts,
      {.max_new_tokens = 8, .sampling = {.temperature = 0.8, .top_p = 0.9, .seed = 1}});
  CHECK(texts[0].size() == 13);
  CHECK(texts[1].size() == 10);
}
