#include "proto_support.hpp"

#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/saved_model/fixed_model.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using namespace distribute::saved_model;
namespace fs = std::filesystem;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string_view initializer(std::string_view model, std::string_view name) {
  for (const std::string_view tensor : proto::all(proto::one(model, 7), 5))
    if (proto::one(tensor, 8) == name) return tensor;
  FAIL("no initializer " << name);
  return {};
}

const float kKernel[] = {1, 2, 3, 4, 5, 6};
const std::string_view kKernelBytes(reinterpret_cast<const char*>(kKernel), sizeof kKernel);

}  // namespace

TEST_CASE("an ONNX file says its versions and holds its weights", "[saved_model][onnx]") {
  const TemporaryDirectory directory;
  nn::Sequential net = fixed_model();
  export_onnx(net, directory / "model.onnx", {.input_name = "x", .output_name = "y"});
  const std::string model = read(directory / "model.onnx");
  CHECK(proto::number(model, 1) == 8);
  CHECK(proto::number(proto::one(model, 8), 2) == 17);
  const auto graph = proto::one(model, 7);
  CHECK_FALSE(proto::one(graph, 2).empty());
  CHECK(proto::one(proto::one(graph, 11), 1) == "x");
  CHECK(proto::one(proto::one(graph, 12), 1) == "y");
  const auto kernel = initializer(model, "sequential/fc/kernel");
  CHECK(proto::numbers(kernel, 1) == std::vector<int64_t>{3, 2});
  CHECK(proto::number(kernel, 2) == 1);
  CHECK(proto::one(kernel, 9) == kKernelBytes);
  CHECK(names_in(directory.path()) == std::set<std::string>{"model.onnx"});
}

TEST_CASE("large constants go to a file beside the model", "[saved_model][onnx]") {
  const TemporaryDirectory directory;
  nn::Sequential net = fixed_model();
  export_onnx(net, directory / "model.onnx", {.external_data_above = 8});
  const std::string model = read(directory / "model.onnx"),
                    bytes = read(directory / "model.onnx.data");
  const auto kernel = initializer(model, "sequential/fc/kernel");
  CHECK(proto::number(kernel, 14) == 1);
  CHECK(proto::all(kernel, 9).empty());
  std::map<std::string, std::string> place;
  for (const std::string_view pair : proto::all(kernel, 13))
    place.emplace(proto::one(pair, 1), proto::one(pair, 2));
  CHECK(place["location"] == "model.onnx.data");
  CHECK(place["length"] == "24");
  const size_t offset = std::stoul(place["offset"]);
  CHECK(offset % 4096 == 0);
  CHECK(bytes.substr(offset, 24) == kKernelBytes);
}

TEST_CASE("a full disk leaves the older ONNX file", "[saved_model][onnx]") {
  const TemporaryDirectory directory;
  nn::Sequential net = fixed_model();
  export_onnx(net, directory / "model.onnx");
  const std::string before = read(directory / "model.onnx");
  const int64_t above = GENERATE(0, 1 << 20);
  net.variables()[0].assign(zeros({3, 2}));
  {
    const FileSizeLimit limit(16);
    CHECK_THROWS_AS(export_onnx(net, directory / "model.onnx", {.external_data_above = above}),
                    Error);
  }
  CHECK(read(directory / "model.onnx") == before);
  CHECK(names_in(directory.path()) == std::set<std::string>{"model.onnx"});
}

TEST_CASE("every worker exports, and the chief's file stays", "[saved_model][onnx][workers]") {
  const TemporaryDirectory directory;
  run_clean(3, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    nn::Sequential net = fixed_model();
    export_onnx(net, directory / "model.onnx");
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"model.onnx"});
}

TEST_CASE("what cannot be exported to ONNX says so", "[saved_model][onnx]") {
  const TemporaryDirectory directory;
  nn::Sequential unused(nn::Dense({.units = 2}));
  CHECK_THROWS_SAYING(export_onnx(unused, directory / "m.onnx"), FailedPreconditionError,
                      "has not been called yet");
  const auto same = [](const Tensor& x) { return x; };
  CHECK_THROWS_SAYING(export_onnx(same, directory / "m.onnx", {}), InvalidArgumentError,
                      "give the option `input`");
  CHECK_THROWS_SAYING(export_onnx(same, "", {.input = data::TensorSpec{{-1, 1}}}),
                      InvalidArgumentError, "is empty");
  CHECK(names_in(directory.path()).empty());
}
