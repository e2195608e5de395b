// The table of docs/export.md: every public operation and layer is in it, and does what it says.
#include "export_cases.hpp"

#include <distribute/ops/activation.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

using namespace distribute;

namespace {

const std::string kSource = distribute::testing::source_dir();

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Names in backticks of the rows between two lines of the page.
std::set<std::string> names_between(const std::string& page, const std::string& first,
                                    const std::string& last) {
  const size_t begin = page.find(first), end = page.find(last, begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  std::set<std::string> names;
  for (size_t open = page.find('`', begin); open < end; open = page.find('`', open + 1)) {
    const size_t close = page.find('`', open + 1);
    names.insert(page.substr(open + 1, close - open - 1));
    open = close;
  }
  return names;
}

std::set<std::string> exported_names() {
  return names_between(text_of(kSource + "/docs/export.md"), "| what | exported",
                       "These are not exported");
}
std::set<std::string> refused_names() {
  return names_between(text_of(kSource + "/docs/export.md"), "These are not exported",
                       "## From the examples");
}

/// Functions declared in the public part of the headers of operations.
std::set<std::string> public_operations() {
  std::set<std::string> names;
  const std::set<std::string> results{
      "Tensor",         "TopK",           "Moments", "FusedBatchNorm", "std::vector<Tensor>",
      "ClippedTensors", "FilterGradients"};
  for (const auto& file :
       std::filesystem::directory_iterator(kSource + "/include/distribute/ops")) {
    if (file.path().extension() != ".hpp") continue;
    std::istringstream lines(text_of(file.path()));
    bool internal = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("namespace ")) internal = line.find("_internal") != std::string::npos;
      std::istringstream words(line.starts_with("inline ") ? line.substr(7) : line);
      std::string result, name;
      words >> result >> name;
      const size_t bracket = name.find('(');
      if (!internal && results.contains(result) && bracket != std::string::npos &&
          !name.starts_with("operator"))
        names.insert(name.substr(0, bracket));
    }
  }
  names.erase("scalar_like");  // of operators between tensors and numbers
  return names;
}

constexpr const char* kBases[] = {" : public Module", " : public LayerOf<",
                                  " : public ConvolutionLayer<"};

std::set<std::string> public_layers() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kSource + "/include/distribute/nn")) {
    if (file.path().extension() != ".hpp") continue;
    std::istringstream lines(text_of(file.path()));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("class ") && std::ranges::any_of(kBases, [&](const char* base) {
            return line.find(base) != std::string::npos;
          }))
        names.insert(line.substr(6, line.find(' ', 6) - 6));
  }
  for (const char* list : {"ModuleListBase", "ModuleList"}) names.erase(list);  // compute nothing
  for (const char* base :
       {"AdaptivePooling", "ConvolutionLayer", "EdgeLayer", "LayerOf", "VolumePool"})
    names.erase(base);
  return names;
}

/// A layer that calls a function.
class Part : public nn::Module {
 public:
  explicit Part(saved_model::InferenceFunction function)
      : nn::Module("odd"), function_(std::move(function)) {}

 private:
  Tensor call(const Tensor& x, nn::CallOptions) override { return function_(x); }
  saved_model::InferenceFunction function_;
};

using Function = saved_model::InferenceFunction;

/// Of images [batch, 4, 6, 2] in [0, 1).
std::map<std::string, Function> refused_functions() {
  const auto rows = [](const Tensor& x) { return reshape(x, {-1, 48}); };
  return {
      {"in_top_k", [=](const Tensor& x) { return nn::in_top_k(argmax(rows(x), 1), rows(x), 3); }},
      {"dropout", [](const Tensor& x) { return nn::dropout(x, 0.5f, 1); }},
      {"global_norm", [](const Tensor& x) { return global_norm({x}); }},
      {"clip_by_norm", [](const Tensor& x) { return clip_by_norm(x, 0.1f); }},
      {"clip_by_global_norm",
       [](const Tensor& x) { return clip_by_global_norm({x}, 0.1f).list[0]; }},
      {"softmax_cross_entropy_with_logits",
       [=](const Tensor& x) {
         return nn::softmax_cross_entropy_with_logits(nn::softmax(rows(x)), rows(x));
       }},
      {"sparse_softmax_cross_entropy_with_logits",
       [=](const Tensor& x) {
         return nn::sparse_softmax_cross_entropy_with_logits(argmax(rows(x), 1), rows(x));
       }},
      {"conv2d_backprop_input",
       [](const Tensor& x) {
         return nn::conv2d_backprop_input(x.shape().with(3, 1), ones({1, 1, 1, 2}), x);
       }},
      {"conv2d_backprop_filter",
       [](const Tensor& x) {
         return nn::conv2d_backprop_filter(x, Shape{1, 1, 2, 2}, x).filters;
       }},
      {"uniform", [](const Tensor& x) { return x + random::uniform(x.shape(), 1); }},
      {"normal", [](const Tensor& x) { return x + random::normal(x.shape(), 1); }},
      {"truncated_normal",
       [](const Tensor& x) { return x + random::truncated_normal(x.shape(), 1); }},
      {"cumsum", [](const Tensor& x) { return cumsum(x, 1); }},
      {"cumprod", [](const Tensor& x) { return cumprod(x, 1); }},
      {"scatter_nd",
       [](const Tensor& x) {
         const Tensor places({4, 1}, std::vector<int32_t>{1, 0, 1, 2});
         return scatter_nd(places, transpose(x, {1, 0, 2, 3}), {3, x.shape()[0], 6, 2});
       }},
      {"uniform_int",
       [](const Tensor& x) {
         return x + cast(random::uniform_int(x.shape(), 1, 0, 9), DType::Float32);
       }},
  };
}

}  // namespace

TEST_CASE("every public operation and layer is in the table of exports",
          "[saved_model][export_table]") {
  std::set<std::string> told = exported_names();
  told.merge(refused_names());
  const auto operations = public_operations(), all_layers = public_layers();
  CHECK(operations.size() > 80);
  CHECK(all_layers.size() > 12);
  for (const std::string& name : operations) {
    INFO(name);
    CHECK(told.contains(name));
  }
  for (const std::string& name : all_layers) {
    INFO(name);
    CHECK(told.contains(name));
  }
}

TEST_CASE("what is not exported names the operation, the layer and a cure",
          "[saved_model][export_table]") {
  const auto functions = refused_functions();
  for (const std::string& name : refused_names()) {
    const auto found = functions.find(name);
    if (found == functions.end()) continue;
    INFO(name);
    nn::Sequential net;
    net.add(Part(found->second));
    std::string problem;
    try {
      saved_model::trace_inference([&](const Tensor& x) { return net(x); },
                                   {.input = {{-1, 4, 6, 2}}});
    } catch (const Error& error) {
      problem = error.what();
    }
    CHECK_THAT(problem, Contains("/odd'") && (Contains("; leave it out") || Contains("must be")));
  }
  for (const auto& [name, function] : functions) {
    INFO(name);
    CHECK(refused_names().contains(name));
  }
}

TEST_CASE("every model of the tests is a graph of both formats", "[saved_model][export_table]") {
  for (const export_cases::Case& one : export_cases::all_cases()) {
    INFO(one.name);
    data::TensorSpec input{{one.input.shape().begin(), one.input.shape().end()}, one.input.dtype()};
    const Function function =
        one.module ? [&](const Tensor& x) { return (*one.module)(x); } : one.function;
    const auto graph = saved_model::trace_inference(function, {.input = input});
    CHECK_FALSE(saved_model::encode_graph_def(graph).bytes.empty());
    CHECK_FALSE(saved_model_internal::onnx_graph(graph).nodes.empty());
  }
}
