// Batch normalization of a GPU in passes: with sums of other replicas, or of the convolution in
// front. Values and gradients are those of the CPU, by cuDNN's plans and without them.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/summed_conv2d.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include "support/library_gpu.hpp"
#include "support/watching_tape.hpp"

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

#if DISTRIBUTE_HAS_CUDNN

namespace {

/// Adds what another replica might have summed: numbers that no symmetry hides.
Tensor with_another(const Tensor& sums) {
  const Tensor other = contract_numbers(sums.shape(), 9);
  return sums + (other * other * 3.0f + Tensor(2.0f)).to(sums.device());
}

struct Case {
  Shape shape;
  Epilogue epilogue = Epilogue::None;
  bool residual = false, scaled = true;
  DType dtype = DType::Float32;
};

void check_case(const Case& c) {
  const int64_t channels = c.shape[-1];
  Tensors inputs{contract_numbers(c.shape), contract_numbers({channels}, 2),
                 contract_numbers({channels}, 3)};
  if (c.residual) inputs.push_back(contract_numbers(c.shape, 4));
  const auto typed = [&](const Tensor& t) { return cast(t, c.dtype); };
  check_contract(
      "fused_batch_norm over replicas",
      [&](const Tensors& in) {
        const auto norm = nn::fused_batch_norm(typed(in[0]), c.scaled ? in[1] : Tensor(),
                                               c.scaled ? in[2] : Tensor(),
                                               {.residual = c.residual ? typed(in[3]) : Tensor(),
                                                .epilogue = c.epilogue,
                                                .sum_over_replicas = with_another});
        CHECK(norm.has_statistics);
        return Tensors{norm.y, stop_gradient(norm.batch_mean), stop_gradient(norm.batch_variance)};
      },
      inputs, {.tolerance = c.dtype == DType::Float32 ? 2e-5f : 2e-2f});
}

struct StatisticsOn {
  StatisticsOn() { device_state().cudnn_statistics = true; }
  ~StatisticsOn() { device_state().cudnn_statistics = false; }
};

/// A block as ResNet's, in bfloat16: x, filters, scale, offset, residual.
Tensors block(const Tensors& in) {
  const auto half = [](const Tensor& t) { return cast(t, DType::BFloat16); };
  const Tensor product = ops_internal::conv2d_with_sums(half(in[0]), in[1]);
  const auto norm = nn::fused_batch_norm(
      product, in[2], in[3],
      {.residual = in.size() > 4 ? half(in[4]) : Tensor(), .epilogue = Epilogue::Relu});
  return {norm.y, stop_gradient(norm.batch_mean), stop_gradient(norm.batch_variance)};
}

Tensors block_inputs(int64_t in_channels, bool residual) {
  Tensors inputs{contract_numbers({3, 4, 5, in_channels}),
                 contract_numbers({1, 1, in_channels, 8}, 2), contract_numbers({8}, 3),
                 contract_numbers({8}, 4)};
  if (residual) inputs.push_back(contract_numbers({3, 4, 5, 8}, 5));
  return inputs;
}

}  // namespace

TEST_CASE("a normalization over replicas agrees with the CPU", "[ops][gpu_convolution]") {
  for (const bool has_passes : {true, false}) {
    LibraryGpu gpu;
    FakeCudnn::has_passes = has_passes;
    for (const Case& c :
         {Case{{3, 4, 5, 8}}, Case{{3, 4, 5, 8}, Epilogue::Relu},
          Case{{3, 4, 5, 8}, Epilogue::Relu, true}, Case{{3, 4, 5, 8}, Epilogue::None, true},
          Case{{6, 8}, Epilogue::Relu, false, false}, Case{{3, 2, 2, 6}, Epilogue::Relu, true},
          Case{{3, 4, 5, 8}, Epilogue::Relu, true, true, DType::BFloat16}}) {
      INFO(to_string(c.shape) << " relu " << int(c.epilogue) << " residual " << c.residual
                              << " with cuDNN " << has_passes);
      const int executed = FakeCudnn::executed;
      check_case(c);
      const bool by_cudnn = has_passes && c.shape[-1] % 4 == 0;
      if (gpu.dnn) CHECK(FakeCudnn::executed == executed + (by_cudnn ? 4 : 0));
    }
  }
}

TEST_CASE("a normalization over replicas is four plans and two small launches", "[ops][fake_gpu]") {
  const FakeCuda fake;
  const ScopedCudaBlas blas(FakeBlas::table());
  const cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  const Device device{DeviceType::Gpu, 0};
  const Tensor x = contract_numbers({3, 4, 5, 8}).to(device);
  const Tensor dy = contract_numbers({3, 4, 5, 8}, 2).to(device);
  const Tensor scale = contract_numbers({8}, 3).to(device);
  for (int step = 0; step < 2; ++step) {
    WatchingTape tape({x, scale});
    const Tensor y = nn::fused_batch_norm(x, scale, {},
                                          {.residual = dy,
                                           .epilogue = Epilogue::Relu,
                                           .sum_over_replicas = [](const Tensor& t) { return t; }})
                         .y;
    GradientTape::Call call;
    call.output_gradients = {dy};
    tape.gradient({y}, Tensors{x, scale}, call);
  }
  CHECK(FakeCudnn::plans == 4);
  CHECK(FakeCudnn::executed == 8);
  CHECK(fake.count("launch norm_vectors") == 2);
  CHECK(fake.count("launch norm_gradient_vectors") == 2);
  int launches = 0;
  for (const std::string& call : fake.calls()) launches += call.starts_with("launch ");
  CHECK(launches == 4);
}

TEST_CASE("a replica without rows takes part and has the others' statistics",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (const Device device : {Device{}, gpu.gpu.device()}) {
    const Tensor x = zeros({0, 8}).to(device);
    const auto alone = nn::fused_batch_norm(
        x, {}, {}, {.sum_over_replicas = [](const Tensor& sums) { return sums; }});
    CHECK_FALSE(alone.has_statistics);
    CHECK(alone.y.shape() == x.shape());
    const auto among =
        nn::fused_batch_norm(x, {}, {}, {.sum_over_replicas = [](const Tensor& sums) {
                               return sums + Tensor(2.0f);  // two rows that sum up to 2
                             }});
    CHECK(among.has_statistics);
    CHECK(among.batch_mean.to_vector() == std::vector<float>(8, 1.0f));
  }
}

TEST_CASE("a normalization takes the sums of the convolution in front", "[ops][gpu_convolution]") {
  const StatisticsOn on;
  for (const bool has_statistics : {true, false})
    for (const int64_t in_channels : {8, 3})  // three are brought to eight
      for (const bool residual : {false, true}) {
        LibraryGpu gpu;
        FakeCudnn::has_statistics = has_statistics;
        INFO("statistics " << has_statistics << " channels " << in_channels << " residual "
                           << residual);
        check_contract("block", block, block_inputs(in_channels, residual), {.tolerance = 2e-2f});
        if (FakeCuda* fake = gpu.gpu.fake())
          CHECK(fake->count("launch norm_vectors") == (has_statistics ? 1 : 0));
      }
}

TEST_CASE("without a kernel that scales, the normalization sums itself", "[ops][gpu_convolution]") {
  const StatisticsOn on;
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  FakeCudnn::has_scaling = false;
  check_contract("block", block, block_inputs(8, true), {.tolerance = 2e-2f});
  CHECK(gpu.gpu.fake()->count("launch norm_vectors") == 0);
}

TEST_CASE("sums of a convolution are not asked for where they are switched off",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  const Tensor x = cast(contract_numbers({3, 4, 5, 8}), DType::BFloat16);
  const Tensor w = contract_numbers({1, 1, 8, 8}, 2);
  const auto sums = [&] {
    const Tensor y =
        distribute::ops_internal::conv2d_with_sums(x.to(gpu.gpu.device()), w.to(gpu.gpu.device()));
    return distribute::TensorHints::of(y).channel_sums;
  };
  CHECK_FALSE(sums());
  const StatisticsOn on;
  const Tensor summed = sums();
  REQUIRE(summed);
  CHECK(summed.to_vector().back() == 60);  // rows
  const Tensor on_cpu = distribute::ops_internal::conv2d_with_sums(x, w);
  CHECK_FALSE(distribute::TensorHints::of(on_cpu).channel_sums);
}

TEST_CASE("replicas add the sums of their convolutions", "[ops][gpu_convolution]") {
  const StatisticsOn on;
  LibraryGpu gpu;
  const int executed = FakeCudnn::executed;
  check_contract("block over replicas",
                 [](const Tensors& in) {
                   const Tensor x = cast(in[0], DType::BFloat16);
                   const Tensor product = ops_internal::conv2d_with_sums(x, in[1]);
                   return Tensors{nn::fused_batch_norm(product, in[2], in[3],
                                                       {.epilogue = Epilogue::Relu,
                                                        .sum_over_replicas = with_another})
                                      .y};
                 },
                 block_inputs(8, false), {.tolerance = 2e-2f});
  // Convolution and its two gradients, scaling, and two passes back: no pass that sums.
  if (gpu.dnn) CHECK(FakeCudnn::executed == executed + 6);
}

TEST_CASE("a recorded step sums anew at every launch", "[ops][gpu_convolution]") {
  const StatisticsOn on;
  LibraryGpu gpu;
  const Device device = gpu.gpu.device();
  Tensors inputs;
  for (const Tensor& input : block_inputs(8, true)) inputs.push_back(input.to(device));
  const std::vector<float> plain = block(inputs)[1].to_vector();
  Tensor mean;  // goes before the graph that its memory belongs to
  const auto graph = CudaGraph::capture(device, [&] { mean = block(inputs)[1]; });
  for (int launch = 0; launch < 2; ++launch) graph.launch();
  const std::vector<float> launched = std::exchange(mean, Tensor()).to_vector();
  for (size_t i = 0; i < 8; ++i) CHECK(launched[i] == Approx(plain[i]).margin(1e-5));
}

#endif
