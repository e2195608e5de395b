// Exported models run in the real TensorFlow and onnxruntime, where there are Python packages.
#include "export_cases.hpp"

#include <distribute/nn/resnet.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

void write_elements(const std::string& file, const Tensor& t) {
  const Tensor plain = t.row_major();
  std::ofstream(file, std::ios::binary)
      .write(plain.array().bytes(), plain.num_elements() * size_of(plain.dtype()));
}

std::vector<int64_t> sizes(const Tensor& t) { return {t.shape().begin(), t.shape().end()}; }

/// What the case gives here, in float32.
Tensor wanted(const export_cases::Case& one) {
  if (!one.module) return one.function(one.input);
  if (!one.same_in_float32) one.module->set_dtype_policy(nn::Policy("float32"));
  return (*one.module)(one.input);
}

data::TensorSpec spec_of(const Tensor& x) {
  data::TensorSpec spec{sizes(x), x.dtype()};
  spec.shape[0] = -1;
  return spec;
}

void save(const export_cases::Case& one, const std::string& path, saved_model::Weights weights) {
  if (one.module) return saved_model::save(*one.module, path, {.weights = weights});
  saved_model::save(one.function, path, {.input = spec_of(one.input), .weights = weights});
}

void write_onnx(const export_cases::Case& one, const std::string& path, int64_t external_above) {
  if (one.module)
    return saved_model::export_onnx(*one.module, path, {.external_data_above = external_above});
  saved_model::export_onnx(one.function, path,
                           {.input = spec_of(one.input), .external_data_above = external_above});
}

nlohmann::json describe(const export_cases::Case& one, const std::string& name,
                        const std::string& model, const Tensor& output) {
  return {{"name", name},
          {"model", model},
          {"input_name", "inputs"},
          {"output_name", "outputs"},
          {"dtype", name_of(one.input.dtype())},
          {"input_shape", sizes(one.input)},
          {"input", one.name + ".x"},
          {"output_shape", sizes(output)},
          {"output", one.name + ".y"}};
}

/// What the script says, or nothing where the package is missing.
std::optional<nlohmann::json> ask(const char* package, const char* variable,
                                  const std::string& cases) {
  const char* python = std::getenv(variable);
  const std::string command =
      std::string(python ? python : "python3") + " " + distribute::testing::source_dir() +
      "/tests/saved_model/exported_models_run.py " + package + " " + cases + " 2>" + cases + ".log";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  const int status = ::pclose(pipe);
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) return std::nullopt;
  INFO(file_text(cases + ".log"));
  REQUIRE(status == 0);
  return nlohmann::json::parse(text);
}

void check_report(const nlohmann::json& report, size_t count) {
  CHECK(report["cases"].size() == count);
  for (const auto& [name, figures] : report["cases"].items()) {
    INFO(name << " in version " << report["version"]);
    const double largest = figures["largest_value"];
    CHECK(figures["largest_difference"].get<double>() <= 1e-5 * std::max(1.0, largest));
  }
}

using Cases = std::vector<export_cases::Case>;

void check_in_tensorflow(const Cases& cases) {
  const TemporaryDirectory directory;
  nlohmann::json all = nlohmann::json::array();
  for (const export_cases::Case& one : cases) {
    INFO(one.name);
    save(one, directory / one.name, saved_model::Weights::Constants);
    const bool twice = one.module && !one.module->variables().empty();
    const std::string second = one.name + "_variables";
    if (twice) save(one, directory / second, saved_model::Weights::Variables);
    const Tensor output = wanted(one);
    write_elements(directory / (one.name + ".x"), one.input);
    write_elements(directory / (one.name + ".y"), output);
    all.push_back(describe(one, one.name, one.name, output));
    if (twice) all.push_back(describe(one, second, second, output));
  }
  std::ofstream(directory / "cases.json") << all;
  const auto report = ask("tensorflow", "DISTRIBUTE_TENSORFLOW_PYTHON", directory / "cases.json");
  if (!report) SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  check_report(*report, all.size());
}

void check_in_onnxruntime(const Cases& cases) {
  const TemporaryDirectory directory;
  nlohmann::json all = nlohmann::json::array();
  for (const export_cases::Case& one : cases) {
    INFO(one.name);
    write_onnx(one, directory / (one.name + ".onnx"), one.name == "resnet8" ? 0 : 1 << 30);
    const Tensor output = wanted(one);
    write_elements(directory / (one.name + ".x"), one.input);
    write_elements(directory / (one.name + ".y"), output);
    all.push_back(describe(one, one.name, one.name + ".onnx", output));
  }
  std::ofstream(directory / "cases.json") << all;
  const auto report = ask("onnx", "DISTRIBUTE_ONNX_PYTHON", directory / "cases.json");
  if (!report) SKIP("there is no onnxruntime for Python (DISTRIBUTE_ONNX_PYTHON)");
  check_report(*report, all.size());
}

Cases resnet50() {
  return {export_cases::network("resnet50", nn::applications::ResNet(), {2, 224, 224, 3})};
}

}  // namespace

TEST_CASE("TensorFlow computes what exported models compute here", "[saved_model][tensorflow]") {
  check_in_tensorflow(export_cases::all_cases());
}

TEST_CASE("onnxruntime computes what exported models compute here", "[saved_model][onnx]") {
  check_in_onnxruntime(export_cases::all_cases());
}

TEST_CASE("TensorFlow and onnxruntime compute ResNet-50 as it is computed here",
          "[saved_model][tensorflow][onnx][slow]") {
  SECTION("TensorFlow") { check_in_tensorflow(resnet50()); }
  SECTION("onnxruntime") { check_in_onnxruntime(resnet50()); }
}
