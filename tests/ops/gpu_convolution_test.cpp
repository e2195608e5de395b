// Convolutions and dense layers by way of cuDNN and cuBLASLt: the same as on the CPU. The
// libraries are fakes that read the descriptors; a real GPU uses the real ones. Builds without
// cuDNN's headers test own kernels only (gpu_lines_test.cpp).
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>

#include "support/library_gpu.hpp"
#include "support/watching_tape.hpp"

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

namespace {

const ContractOptions kExact{.tolerance = 1e-5f};

}  // namespace

TEST_CASE("dense layers on cuBLASLt agree with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (Epilogue epilogue : {Epilogue::None, Epilogue::Relu})
    check_contract(
        "dense",
        [=](const Tensors& in) { return Tensors{nn::dense(in[0], in[1], in[2], epilogue)}; },
        {contract_numbers({6, 5}), contract_numbers({5, 3}, 2), contract_numbers({3}, 3)}, kExact);
  check_contract(
      "matmul",
      [](const Tensors& in) { return Tensors{matmul(in[0], in[1], {.transpose_b = true})}; },
      {contract_numbers({2, 4, 5}), contract_numbers({2, 3, 5}, 2)}, kExact);
  if (gpu.blas) CHECK(FakeBlas::products > 0);
}

#if DISTRIBUTE_HAS_CUDNN

TEST_CASE("convolutions on cuDNN agree with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  using nn::Conv2DOptions;
  const Conv2DOptions plain, same{.strides = {2, 2}, .padding = Padding::Same},
      grouped{.groups = 2}, dilated{.dilations = {2, 1}};
  for (const Conv2DOptions& options : {plain, same, grouped, dilated})
    for (bool with_bias : {false, true})
      for (Epilogue epilogue : {Epilogue::None, Epilogue::Relu}) {
        Tensors inputs{contract_numbers({2, 7, 6, 4}),
                       contract_numbers({3, 2, 4 / options.groups, 6}, 2)};
        if (with_bias) inputs.push_back(contract_numbers({6}, 3));
        check_contract(
            "conv2d",
            [=](const Tensors& in) {
              return Tensors{
                  nn::conv2d(in[0], in[1], options, with_bias ? in[2] : Tensor(), epilogue)};
            },
            inputs, kExact);
      }
  if (gpu.dnn) {
    CHECK(FakeCudnn::executed > 0);
    CHECK(FakeCudnn::plans > 0);
  }
}

TEST_CASE("filters are turned round once for a convolution and its gradient", "[ops][fake_gpu]") {
  const FakeCuda fake;
  const ScopedCudaBlas blas(FakeBlas::table());
  const cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  const Device device{DeviceType::Gpu, 0};
  const Tensor x = contract_numbers({2, 5, 5, 4}).to(device);
  const Tensor w = contract_numbers({3, 3, 4, 8}, 2).to(device);
  WatchingTape tape({x, w});
  const Tensor y = nn::conv2d(x, w);
  CHECK(fake.count("launch transpose_matrix") == 1);
  tape.gradient(y, std::vector<Tensor>{x, w});
  CHECK(fake.count("launch transpose_matrix") == 2);  // that of the filters' gradient
}

TEST_CASE("batch normalization on cuDNN agrees with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  struct Case {
    Shape shape;
    Epilogue epilogue;
    bool residual, scaled;
  };
  for (const Case& c : {Case{{3, 4, 5, 8}, Epilogue::None, false, true},
                        {{3, 4, 5, 8}, Epilogue::Relu, false, true},
                        {{3, 4, 5, 8}, Epilogue::Relu, true, true},
                        {{6, 8}, Epilogue::Relu, false, false}}) {
    const int executed = FakeCudnn::executed;
    Tensors inputs{contract_numbers(c.shape), contract_numbers({8}, 2), contract_numbers({8}, 3)};
    if (c.residual) inputs.push_back(contract_numbers(c.shape, 4));
    check_contract("fused_batch_norm",
                   [=](const Tensors& in) {
                     const auto norm = nn::fused_batch_norm(
                         in[0], c.scaled ? in[1] : Tensor(), c.scaled ? in[2] : Tensor(),
                         {.residual = c.residual ? in[3] : Tensor(), .epilogue = c.epilogue});
                     return Tensors{norm.y, norm.batch_mean, norm.batch_variance};
                   },
                   inputs, {.tolerance = 2e-5f});
    if (gpu.dnn) CHECK(FakeCudnn::executed >= executed + 2);  // there and back
  }
}

TEST_CASE("the two gradients behind a residual block are added by the normalization before it",
          "[ops][gpu_convolution]") {
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const bool has_engine : {true, false})
      for (const bool residual : {true, false}) {
        LibraryGpu gpu;
        FakeCudnn::adds_gradients = has_engine;
        check_contract(
            "block",
            [=](const Tensors& in) {
              const auto half = [=](const Tensor& t) { return cast(t, dtype); };
              const Tensor y = nn::fused_batch_norm(half(in[0]), in[1], in[2],
                                                    {.residual = residual ? half(in[3]) : Tensor(),
                                                     .epilogue = Epilogue::Relu})
                                   .y;
              const Tensor other = nn::fused_batch_norm(half(in[4]), {}, {}).y;
              return Tensors{
                  nn::fused_batch_norm(other, {}, {}, {.residual = y, .epilogue = Epilogue::Relu})
                      .y,
                  nn::conv2d(y, half(in[5]))};
            },
            {contract_numbers({3, 4, 5, 8}), contract_numbers({8}, 2), contract_numbers({8}, 3),
             contract_numbers({3, 4, 5, 8}, 4), contract_numbers({3, 4, 5, 8}, 5),
             contract_numbers({1, 1, 8, 2}, 6)},
            {.tolerance = dtype == DType::Float32 ? 2e-5f : 2e-2f});
        if (FakeCuda* fake = gpu.gpu.fake())
          CHECK(fake->count("launch combine") == (has_engine ? 0 : 1));
      }
}

TEST_CASE("a residual without ReLU is normalized without cuDNN", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  check_contract("fused_batch_norm",
                 [=](const Tensors& in) {
                   return Tensors{nn::fused_batch_norm(in[0], {}, {}, {.residual = in[1]}).y};
                 },
                 {contract_numbers({3, 2, 2, 8}), contract_numbers({3, 2, 2, 8}, 2)},
                 {.tolerance = 2e-5f});
  if (gpu.dnn) CHECK(FakeCudnn::executed == 0);
}

TEST_CASE("a normalization without a way back in cuDNN is made without it",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  FakeCudnn::has_norm_backward = false;
  check_contract(
      "fused_batch_norm",
      [=](const Tensors& in) { return Tensors{nn::fused_batch_norm(in[0], in[1], in[2]).y}; },
      {contract_numbers({3, 2, 5, 8}), contract_numbers({8}, 2), contract_numbers({8}, 3)},
      {.tolerance = 2e-5f});
  CHECK(FakeCudnn::executed == 0);
}

TEST_CASE("an engine that fails is an error, not another way", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  const Tensor x = contract_numbers({3, 2, 5, 8}).to(gpu.gpu.device());
  FakeCudnn::compiler_fails = true;
  CHECK_THROWS_AS(nn::fused_batch_norm(x, {}, {}), InternalError);
  FakeCudnn::compiler_fails = false;
  CHECK_NOTHROW(nn::fused_batch_norm(x, {}, {}));
}

TEST_CASE("plans of normalizations are made once each, and not measured",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  device_state().cudnn_autotune = true;
  const Tensor x = contract_numbers({3, 2, 5, 8}).to(gpu.gpu.device());
  for (int step = 0; step < 2; ++step) {
    WatchingTape tape({x});
    tape.gradient(nn::fused_batch_norm(x, {}, {}).y, x);
  }
  device_state().cudnn_autotune = false;
  CHECK(FakeCudnn::plans == 2);  // there and back
  CHECK(FakeCudnn::executed == 4);
}

TEST_CASE("both moving averages of a normalization are one launch", "[ops][fake_gpu]") {
  const FakeCuda fake;
  const ScopedCudaBlas blas(FakeBlas::table());
  const cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  const auto averages = [](Device device) {
    const DeviceScope scope(device);
    nn::BatchNormalization norm({.momentum = 0.75});
    const Tensor x = contract_numbers({3, 2, 5, 8}).to(device);
    for (int step = 0; step < 2; ++step) norm(x, {.training = true});
    std::vector<Tensor> values;
    for (const Variable& variable : norm.variables()) values.push_back(variable.read_value());
    return values;
  };
  const Tensors cpu = averages({});
  const Tensors gpu = averages({DeviceType::Gpu, 0});
  REQUIRE(gpu.size() == 4);
  for (size_t i = 0; i < 4; ++i) check_contract_tensor("variable", cpu[i], gpu[i], 2e-6f);
  CHECK(fake.count("launch blend_averages") == 2);
  CHECK(fake.count("launch norm_variance") == 2);  // from what cuDNN keeps
}

namespace {

cudnnStatus_t (*execute_plan)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t);
std::atomic<int> executing, most_executing;

/// Stays until a second thread executes, too, or for a while.
cudnnStatus_t execute_slowly(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                             cudnnBackendDescriptor_t pack) {
  using std::chrono::steady_clock;
  most_executing = std::max(most_executing.load(), ++executing);
  const auto end = steady_clock::now() + std::chrono::milliseconds(50);
  while (executing < 2 && steady_clock::now() < end) std::this_thread::yield();
  const cudnnStatus_t status = execute_plan(handle, plan, pack);
  --executing;
  return status;
}

}  // namespace

TEST_CASE("threads of two logical GPUs take turns with a plan of their card", "[ops][fake_gpu]") {
  const FakeCuda fake;
  set_logical_gpus({{0}, {0}});
  const ScopedCudaBlas blas(FakeBlas::table());
  auto table = FakeCudnn::table();
  execute_plan = std::exchange(table.execute, execute_slowly);
  const cudnn_internal::ScopedCudnn dnn(table);
  const auto convolve = [](int index) {
    const Device device{DeviceType::Gpu, index};
    const Tensor x = contract_numbers({2, 5, 5, 4}).to(device);
    const Tensor w = contract_numbers({3, 3, 4, 8}, 2).to(device);
    nn::conv2d(x, w);
  };
  convolve(0);  // makes the plan
  convolve(1);
  std::thread other(convolve, 1);
  convolve(0);
  other.join();
  CHECK(most_executing == 1);
}

TEST_CASE("the gradient of cuDNN's normalization says that it has none", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  const Device device{DeviceType::Gpu, 0};
  const Tensor x = contract_numbers({3, 2, 5, 8}).to(device);
  WatchingTape outer({x});
  WatchingTape inner({x});
  const Tensor y = nn::fused_batch_norm(x, {}, {}, {.epilogue = Epilogue::Relu}).y;
  const Tensor dx = inner.gradient(y * y, x);
  CHECK_THROWS_WITH(outer.gradient(dx, x), Contains("fused_batch_norm gradient has no"));
}

TEST_CASE("16-bit convolutions and products need no detour on a GPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (DType dtype : {DType::BFloat16, DType::Float16}) {
    const auto half = [=](const Tensor& t) { return cast(t, dtype); };
    const ContractOptions rough{.tolerance = 2e-2f};
    check_contract(
        "conv2d",
        [=](const Tensors& in) {
          return Tensors{nn::conv2d(half(in[0]), half(in[1]), {}, half(in[2]), Epilogue::Relu)};
        },
        {contract_numbers({2, 6, 6, 3}), contract_numbers({3, 3, 3, 8}, 2, 0.3f),
         contract_numbers({8}, 3)},
        rough);
    check_contract(
        "with float32 weights",
        [=](const Tensors& in) {
          const Tensor y = nn::conv2d(half(in[0]), in[1], {}, in[2], Epilogue::Relu);
          return Tensors{y, nn::dense(half(in[3]), in[4], in[2])};
        },
        {contract_numbers({2, 6, 6, 3}), contract_numbers({3, 3, 3, 8}, 2, 0.3f),
         contract_numbers({8}, 3), contract_numbers({6, 5}), contract_numbers({5, 8}, 2)},
        rough);
    check_contract(
        "dense",
        [=](const Tensors& in) {
          return Tensors{nn::dense(half(in[0]), half(in[1]), half(in[2]))};
        },
        {contract_numbers({6, 5}), contract_numbers({5, 3}, 2), contract_numbers({3}, 3)}, rough);
    check_contract(
        "fused_batch_norm",
        [=](const Tensors& in) {
          return Tensors{nn::fused_batch_norm(half(in[0]), in[1], in[2],
                                              {.residual = half(in[3]), .epilogue = Epilogue::Relu})
                             .y};
        },
        {contract_numbers({3, 4, 5, 8}), contract_numbers({8}, 2), contract_numbers({8}, 3),
         contract_numbers({3, 4, 5, 8}, 4)},
        rough);
  }
}

#endif
