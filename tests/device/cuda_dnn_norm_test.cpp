// Plans whose kernels cuDNN compiles when they are made: batch normalization, and convolutions with
// statistics. They are finished here, without a GPU, for the properties of an H100 and of an H200,
// over a stub of the driver (support/driver_shim.c). A plan takes half a second of the processor:
// the tests take some, with DISTRIBUTE_TEST_EVERY_PLAN=1 all that ResNet-50 uses.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_driver.hpp>

#include "../support/catch.hpp"
#include "../support/cuda_dnn.hpp"
#include "../support/resnet_shapes.hpp"
#include "../support/source_dir.hpp"
#include "../support/temporary_directory.hpp"

#include <dlfcn.h>

using namespace distribute;

TEST_CASE("batch normalization needs cuDNN", "[device][cuda_dnn_norm]") {
  if (cudnn_problem().empty()) return;
  CHECK_THROWS_AS(cudnn_batch_norm({}, {}, {}, {}, 1e-3f, nullptr), UnavailableError);
  CHECK_THROWS_AS(cudnn_batch_norm_backward({}, {}, {}, {}, {}), UnavailableError);
}

#if DISTRIBUTE_HAS_CUDNN && defined(DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES)

namespace {

using namespace distribute::cudnn_internal;
using namespace distribute::testing;

/// The stub of the driver, loaded before cuDNN asks for one; made once in a process.
struct DriverShim {
  DriverShim() {
    const std::string source = testing::source_dir() + "/tests/support/driver_shim.c";
    const std::string library = folder / "libcuda.so.1";
    const std::string stubs = folder / "stubs.c";
    // cuDNN asks for every function by its name: those of the toolkit's own stub that the source
    // does not have say that they are none.
    const std::string line =
        "nm -D --defined-only '" DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES
        "/stubs/libcuda.so' | awk '$2 == \"T\" { "
        "print \"__attribute__((weak)) int \" $3 \"(void) { return 34; }\" }' > '" +
        stubs + "' && cc -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o '" + library + "' '" +
        source + "' '" + stubs + "' -ldl";
    if (std::system(line.c_str()) != 0) problem = "the stub of the driver cannot be compiled";
    void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (opened) loaded = static_cast<int*>(dlsym(opened, "shim_loaded_codes"));
    if (!loaded && problem.empty()) problem = "the stub of the driver cannot be loaded";
  }
  TemporaryDirectory folder;
  std::string problem;
  int* loaded = nullptr;  // how often compiled code was loaded
};

/// Ends a test that cannot run: a driver of this machine would be in the way.
void skip_where_missing() {
  static const DriverShim& shim = *new DriverShim;
  std::string problem = shim.problem;
  if (problem.empty()) problem = cudnn_problem();
  CudaCompiler compiler;
  if (problem.empty()) problem = load_cuda_compiler(compiler);
  if (!problem.empty()) SKIP(problem);
}

CudnnTarget target_of(const char* name) {
  skip_where_missing();
  std::ifstream file(testing::source_dir() + "/tests/data/gpu/" + name + ".json");
  return CudnnTarget::of_properties({std::istreambuf_iterator<char>(file), {}});
}

CudnnPlan finished(const CudnnTarget& target, CudnnGraph graph) {
  INFO(target.name() << " " << graph.signature());
  auto plans = make_plans(target, graph, {});
  REQUIRE(plans.size() == 1);
  return std::move(plans[0]);
}

/// Those of ResNet-50 at 224 x 224, the stem's first.
std::vector<NormShape> resnet50_norms(DType dtype, int64_t batch) {
  std::vector<NormShape> norms{{dtype, batch, 64, 112, 112, true, false}};
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t width = 64 << stage, size = 56 >> stage;
    if (stage > 0) norms.push_back({dtype, batch, width, 2 * size, 2 * size, true, false});
    norms.push_back({dtype, batch, width, size, size, true, false});
    norms.push_back({dtype, batch, 4 * width, size, size, true, true});
    norms.push_back({dtype, batch, 4 * width, size, size, false, false});
  }
  return norms;
}

}  // namespace

TEST_CASE("plans of batch normalization are finished for H100 and H200",
          "[device][cuda_dnn_norm]") {
  const NormShape shape{DType::BFloat16, 256, 1024, 14, 14, true, true};
  const CudnnPlan there = finished(target_of("h100_deviceprop"), batch_norm_forward(shape));
  CHECK(there.compiled_at_runtime());
  const CudnnPlan back = finished(target_of("h200_deviceprop"), batch_norm_backward(shape));
  CHECK(back.compiled_at_runtime());
}

TEST_CASE("plans of the way back add two gradients, and need not write the gated one",
          "[device][cuda_dnn_norm]") {
  NormShape shape{DType::BFloat16, 256, 256, 14, 14, true, true};
  shape.summed = true;
  finished(target_of("h100_deviceprop"), batch_norm_backward(shape));
  shape.residual = shape.summed = shape.keeps_gated = false;
  finished(target_of("h100_deviceprop"), batch_norm_backward(shape));
}

TEST_CASE("a stored plan of batch normalization is not compiled again", "[device][cuda_dnn_norm]") {
  const TemporaryDirectory folder;
  const MakeGraph make = [] {
    return batch_norm_forward({DType::BFloat16, 256, 512, 7, 7, true, false});
  };
  int measured = 0;
  const auto choose = [&](const std::vector<CudnnPlan>&, const std::vector<int64_t>&) {
    ++measured;
    return size_t{0};
  };
  PlanCache first(target_of("h200_deviceprop"), PlanStore(folder.path()));
  const ReadyPlan& made = first.find_or_make("n", {}, make, choose);
  CHECK(made.plan.compiled_at_runtime());
  CHECK(measured == 0);  // none that need no compiler, so cuDNN's favourite is taken
  PlanCache second(target_of("h200_deviceprop"), PlanStore(folder.path()));
  const ReadyPlan& restored = second.find_or_make("n", {}, make, choose);
  CHECK_FALSE(restored.plan.compiled_at_runtime());
  CHECK(restored.plan.workspace_bytes() == made.plan.workspace_bytes());
}

TEST_CASE("a convolution with statistics has a plan in bfloat16", "[device][cuda_dnn_norm]") {
  const auto shape = square_convolution(DType::BFloat16, 256, 14, 1024, 256, 1, 1);
  CHECK(
      finished(target_of("h200_deviceprop"), convolution_statistics(shape)).compiled_at_runtime());
}

TEST_CASE("the passes of a normalization over replicas have plans", "[device][cuda_dnn_norm]") {
  const auto passes = [](const char* target, NormShape shape) {
    shape.keeps_gated = shape.residual;
    for (const auto& graph :
         {channel_sums, channels_scaled, channel_gradient_sums, channels_gradient})
      CHECK(finished(target_of(target), graph(shape)).compiled_at_runtime());
  };
  passes("h100_deviceprop", {DType::BFloat16, 32, 256, 14, 14, true, true});
  passes("h200_deviceprop", {DType::Float32, 32, 64, 28, 28, true, false});
}

TEST_CASE("sums over channels have plans that do not depend on timing", "[device][cuda_dnn_norm]") {
  const NormShape norm{DType::BFloat16, 32, 256, 14, 14, true, true};
  const auto convolution = square_convolution(DType::BFloat16, 32, 14, 256, 64, 1, 1);
  const CudnnTarget target = target_of("h100_deviceprop");
  CudnnGraph sums = channel_sums(norm), products = channel_gradient_sums(norm);
  for (CudnnGraph* graph : {&sums, &products})
    CHECK(make_plans(target, *graph, {.deterministic = true}).size() == 1);
  CudnnGraph statistics = convolution_statistics(convolution);
  CHECK(make_plans(target, statistics, {.deterministic = true}).size() == 1);
}

TEST_CASE("the next convolution can scale its input in bfloat16, its filters' gradient cannot",
          "[device][cuda_dnn_norm]") {
  const auto graph_of = [](ConvolutionPass pass) {
    const auto s = square_convolution(DType::BFloat16, 256, 14, 256, 1024, 1, 1);
    const auto type = data_type_of(s.dtype);
    const GraphTensor images =
        cudnn_internal::image(type, s.batch, s.in_channels, s.in[0], s.in[1]);
    CudnnGraph graph;
    const auto x = graph.add(images);
    const auto w = graph.add(cudnn_internal::image(type, s.out_channels, s.in_channels, 1, 1));
    const auto y =
        graph.add(cudnn_internal::image(type, s.batch, s.out_channels, s.out[0], s.out[1]));
    const auto factor = graph.add(channel_vector(s.in_channels));
    const auto shift = graph.add(channel_vector(s.in_channels));
    const auto scaled = graph.add(between(images)), shifted = graph.add(between(images));
    const auto gated = graph.add(between(images, type));
    graph.pointwise(CUDNN_POINTWISE_MUL, x, scaled, factor);
    graph.pointwise(CUDNN_POINTWISE_ADD, scaled, shifted, shift);
    graph.pointwise(CUDNN_POINTWISE_RELU_FWD, shifted, gated);
    graph.convolution(pass, s, gated, w, y);
    return graph;
  };
  const CudnnTarget target = target_of("h100_deviceprop");
  finished(target, graph_of(ConvolutionPass::Forward));
  CudnnGraph filters = graph_of(ConvolutionPass::Filter);
  CHECK_THROWS_AS(make_plans(target, filters, {}), UnimplementedError);
}

TEST_CASE("attention has plans for H100 and H200, with gradients of 16 bits",
          "[device][cuda_dnn_norm]") {
  const CudnnAttentionShape causal{DType::BFloat16, 16, 4, 256, 256, 64, 64, true};
  finished(target_of("h100_deviceprop"), attention_forward(causal));
  const CudnnPlan back = finished(target_of("h200_deviceprop"), attention_backward(causal, true));
  CHECK(back.workspace_bytes() < 16 << 10);  // no matrix of scores
  if (!std::getenv("DISTRIBUTE_TEST_EVERY_PLAN")) return;
  for (const CudnnAttentionShape& shape :
       {CudnnAttentionShape{DType::Float16, 3, 4, 100, 37, 64, 64, false},
        {DType::BFloat16, 3, 4, 101, 101, 64, 64, true},
        {DType::BFloat16, 16, 4, 256, 256, 128, 32, true},
        {DType::BFloat16, 8, 8, 4096, 4096, 64, 64, true}})
    for (const char* name : {"h100_deviceprop", "h200_deviceprop"}) {
      finished(target_of(name), attention_forward(shape));
      finished(target_of(name), attention_backward(shape, true));
      if (shape.keys < 4096) finished(target_of(name), attention_backward(shape, false));
    }
}

TEST_CASE("every normalization of ResNet-50 has plans", "[device][cuda_dnn_norm]") {
  if (!std::getenv("DISTRIBUTE_TEST_EVERY_PLAN")) return;
  int compiled = 0, plans = 0;
  for (const char* name : {"h100_deviceprop", "h200_deviceprop"}) {
    const CudnnTarget target = target_of(name);
    for (const NormShape& shape : resnet50_norms(DType::BFloat16, 256))
      for (const bool back : {false, true}) {
        NormShape way = shape;
        way.keeps_gated = shape.residual;
        way.summed = back && shape.residual;  // behind a block
        const CudnnPlan plan =
            finished(target, back ? batch_norm_backward(way) : batch_norm_forward(way));
        compiled += plan.compiled_at_runtime();
        ++plans;
      }
  }
  CHECK(plans == 64);
  WARN(compiled << " of " << plans << " plans were compiled when they were made");
}

TEST_CASE("every convolution and normalization of ResNet-50 has plans with sums apart",
          "[device][cuda_dnn_norm]") {
  if (!std::getenv("DISTRIBUTE_TEST_EVERY_PLAN")) return;
  int compiled = 0, plans = 0;
  const auto count = [&](const CudnnTarget& target, CudnnGraph graph) {
    compiled += finished(target, std::move(graph)).compiled_at_runtime();
    ++plans;
  };
  for (const char* name : {"h100_deviceprop", "h200_deviceprop"}) {
    const CudnnTarget target = target_of(name);
    for (const Conv2DShape& shape : resnet50_convolutions(DType::BFloat16, 256, 8))
      count(target, convolution_statistics(shape));
    for (NormShape shape : resnet50_norms(DType::BFloat16, 256)) {
      shape.keeps_gated = shape.residual;
      for (const auto& graph :
           {channel_sums, channels_scaled, channel_gradient_sums, channels_gradient})
        count(target, graph(shape));
    }
  }
  CHECK(plans == 2 * (23 + 4 * 16));
  WARN(compiled << " of " << plans << " plans were compiled when they were made");
}

#endif
