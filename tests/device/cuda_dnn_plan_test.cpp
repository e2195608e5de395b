// Plans of cuDNN for an H200, made without one: its properties come from a file. Needs libcudnn
// alone; builds without cuDNN's headers check only what they say.
#include <distribute/device/detail/cuda_dnn_operations.hpp>

#include <distribute/base/error.hpp>

#include <tests/support/source_dir.hpp>
#include "../support/catch.hpp"
#include "../support/cuda_dnn.hpp"
#include "../support/resnet_shapes.hpp"
#include "../support/temporary_directory.hpp"

using namespace distribute;

TEST_CASE("without cuDNN the message names the library", "[device][cuda_dnn]") {
  if (cudnn_problem().empty()) return;
  const std::string problem = cudnn_problem();
  CHECK(problem.find("cuDNN") != std::string::npos);
  CHECK(problem.find("nstall") != std::string::npos);
}

#if DISTRIBUTE_HAS_CUDNN

namespace {

using namespace distribute::cudnn_internal;
using namespace distribute::testing;

const DType kTypes[] = {DType::Float32, DType::BFloat16, DType::Float16};

CudnnTarget h200() {
  if (!cudnn_problem().empty()) SKIP(cudnn_problem());
  std::ifstream file(distribute::testing::source_dir() + "/tests/data/gpu/h200_deviceprop.json");
  return CudnnTarget::of_properties({std::istreambuf_iterator<char>(file), {}});
}

/// The plan that a call would get; the graph's text when there is none.
CudnnPlan plan_of(const CudnnTarget& target, CudnnGraph graph, const PlanOptions& options = {}) {
  INFO(graph.signature());
  auto plans = make_plans(target, graph, options);
  REQUIRE(plans.size() == 1);
  CHECK(plans[0].workspace_bytes() <= options.workspace_bytes);
  CHECK_FALSE(plans[0].compiled_at_runtime());
  return std::move(plans[0]);
}

/// The convolutions of the book's and of the tutorial's network on 28 x 28 digits.
std::vector<Conv2DShape> mnist_convolutions(DType dtype, int64_t batch) {
  Conv2DShape tutorial = square_convolution(dtype, batch, 28, 1, 32, 3, 1);
  tutorial.out = {26, 26};
  tutorial.pad_before = tutorial.pad_after = {0, 0};
  return {square_convolution(dtype, batch, 28, 1, 32, 5, 1),
          square_convolution(dtype, batch, 14, 32, 64, 5, 1), tutorial};
}

}  // namespace

TEST_CASE("every convolution of ResNet-50 has a plan on the H200", "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  CHECK(target.name().find("sm 900 x 132") != std::string::npos);
  for (DType dtype : kTypes)
    for (const Conv2DShape& s : resnet50_convolutions(dtype, 256)) {
      plan_of(target, convolution_forward(s, false, Epilogue::None));
      plan_of(target, convolution_filter(s));
      if (s.in_channels > 3) plan_of(target, convolution_data(s));
    }
}

TEST_CASE("every convolution of the digits' networks has a fused plan", "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  for (DType dtype : kTypes)
    for (int64_t batch : {50, 64, 512})
      for (const Conv2DShape& s : mnist_convolutions(dtype, batch)) {
        plan_of(target, convolution_forward(s, true, Epilogue::Relu));
        plan_of(target, convolution_forward(s, true, Epilogue::None));
        plan_of(target, convolution_filter(s));
        plan_of(target, convolution_data(s));
      }
}

TEST_CASE("grouped, depthwise, dilated and one-sided padded convolutions have plans",
          "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  for (DType dtype : kTypes) {
    const Conv2DShape plain = square_convolution(dtype, 32, 56, 64, 64, 3, 1);
    Conv2DShape grouped = plain, depthwise = plain, dilated = plain, same = plain;
    grouped.groups = 4;
    depthwise.groups = 64;
    dilated.dilation = dilated.pad_before = dilated.pad_after = {2, 2};
    same.stride = {2, 2};  // SAME at stride 2 pads after alone
    same.out = {28, 28};
    same.pad_before = {0, 0};
    for (const Conv2DShape& s : {grouped, depthwise, dilated, same}) {
      plan_of(target, convolution_forward(s, true, Epilogue::Relu));
      plan_of(target, convolution_data(s));
      plan_of(target, convolution_filter(s));
    }
  }
}

TEST_CASE("deterministic plans and plans without TensorFloat-32 exist", "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  const PlanOptions exact{.deterministic = true, .tensor_float_32 = false};
  for (const Conv2DShape& s : resnet50_convolutions(DType::Float32, 64)) {
    const CudnnPlan fast = plan_of(target, convolution_forward(s, false, Epilogue::None));
    const CudnnPlan slow = plan_of(target, convolution_forward(s, false, Epilogue::None), exact);
    const bool differ = fast.stored() != slow.stored();
    CHECK(differ);
    plan_of(target, convolution_filter(s), exact);
    if (s.in_channels > 3) plan_of(target, convolution_data(s), exact);
  }
}

TEST_CASE("float16 convolutions sum for the batch normalization behind them",
          "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  for (const Conv2DShape& s : resnet50_convolutions(DType::Float16, 256)) {
    if (s.in_channels == 3) continue;
    plan_of(target, convolution_statistics(s), {.runtime_compilation = false});
  }
}

TEST_CASE("a workspace limit is kept, or the reason is told", "[device][cuda_dnn]") {
  const CudnnTarget target = h200();
  const auto stem = resnet50_convolutions(DType::BFloat16, 256)[0];
  const CudnnPlan large = plan_of(target, convolution_forward(stem, false, Epilogue::None));
  CHECK(large.workspace_bytes() > 100'000'000);  // a padded copy of the three channels
  const auto padded = resnet50_convolutions(DType::BFloat16, 256, 8)[0];
  const CudnnPlan small = plan_of(target, convolution_forward(padded, false, Epilogue::None));
  CHECK(small.workspace_bytes() < 1'000'000);

  CudnnGraph graph = convolution_filter(padded);
  try {
    make_plans(target, graph, {.workspace_bytes = -1});
    FAIL("a plan without a workspace of its own size");
  } catch (const UnimplementedError& error) {
    CHECK(std::string(error.what()).find("wants a workspace of") != std::string::npos);
    CHECK(std::string(error.what()).find("NVIDIA H200") != std::string::npos);
  }
}

TEST_CASE("equal graphs have equal signatures, others differ", "[device][cuda_dnn]") {
  const Conv2DShape a = square_convolution(DType::Float32, 4, 8, 16, 16, 3, 1);
  Conv2DShape b = a;
  b.dilation = b.pad_before = b.pad_after = {2, 2};
  const auto name = [](const CudnnGraph& graph) { return graph.signature(); };
  CHECK(name(convolution_data(a)) == name(convolution_data(a)));
  CHECK(name(convolution_data(a)) != name(convolution_data(b)));
  CHECK(name(convolution_data(a)) != name(convolution_filter(a)));
  CHECK(name(convolution_forward(a, true, Epilogue::None)) !=
        name(convolution_forward(a, true, Epilogue::Relu)));
}

TEST_CASE("a stored plan is found again, by its own target and options alone",
          "[device][cuda_dnn]") {
  const TemporaryDirectory folder;
  const Conv2DShape s = square_convolution(DType::BFloat16, 32, 28, 128, 128, 3, 1);
  const std::string key = "key";
  int made = 0, chosen = 0;
  const MakeGraph make = [&] {
    ++made;
    return convolution_filter(s);
  };
  const auto last = [&](const std::vector<CudnnPlan>& plans, const std::vector<int64_t>& ids) {
    ++chosen;
    CHECK(plans.size() == 8);
    CHECK(ids == std::vector<int64_t>{1, 2, 3});
    return plans.size() - 1;
  };
  PlanCache first(h200(), PlanStore(folder.path()));
  const std::string stored = first.find_or_make(key, {}, make, last).plan.stored();
  CHECK(first.find_or_make(key, {}, make, last).plan.stored() == stored);
  CHECK((made == 1 && chosen == 1));  // the second call found it in memory

  PlanCache second(h200(), PlanStore(folder.path()));
  CHECK(second.find_or_make(key, {}, make, last).plan.stored() == stored);
  CHECK((made == 2 && chosen == 1));  // on disk: nothing was measured again
  const auto& other = second.find_or_make("other", {.deterministic = true}, make, last);
  CHECK(chosen == 2);
  CHECK(other.ids.size() == 3);

  PlanCache none(h200(), PlanStore(""));
  none.find_or_make(key, {}, make, last);
  CHECK(chosen == 3);
}

TEST_CASE("a damaged plan file only costs time", "[device][cuda_dnn]") {
  CHECK_FALSE(CudnnPlan::restore(h200(), "{\"cudnnVersion\": 1}").has_value());
  CHECK_FALSE(CudnnPlan::restore(h200(), "").has_value());
}

#endif
