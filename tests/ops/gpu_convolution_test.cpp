// Convolutions and dense layers by way of cuDNN and cuBLASLt: the same as on the CPU. The
// libraries are fakes that read the descriptors; a real GPU uses the real ones. Builds without
// cuDNN's headers test own kernels only (gpu_lines_test.cpp).
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/batch_norm.hpp>
#include <distribute/ops/conv2d.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/matmul.hpp>

#include "support/library_gpu.hpp"

using namespace distribute::testing;
using distribute::DType;
using distribute::Epilogue;
using distribute::Tensor;
using Tensors = std::vector<Tensor>;

namespace {

const ContractOptions kExact{.tolerance = 1e-5f};

}  // namespace

TEST_CASE("dense layers on cuBLASLt agree with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (Epilogue epilogue : {Epilogue::None, Epilogue::Relu})
    check_contract(
        "dense",
        [=](const Tensors& in) {
          return Tensors{distribute::nn::dense(in[0], in[1], in[2], epilogue)};
        },
        {contract_numbers({6, 5}), contract_numbers({5, 3}, 2), contract_numbers({3}, 3)}, kExact);
  check_contract(
      "matmul",
      [](const Tensors& in) {
        return Tensors{distribute::matmul(in[0], in[1], {.transpose_b = true})};
      },
      {contract_numbers({2, 4, 5}), contract_numbers({2, 3, 5}, 2)}, kExact);
  if (gpu.blas) CHECK(FakeBlas::products > 0);
}

#if DISTRIBUTE_HAS_CUDNN

TEST_CASE("convolutions on cuDNN agree with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  using distribute::nn::Conv2DOptions;
  const Conv2DOptions plain, same{.strides = {2, 2}, .padding = distribute::Padding::Same},
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
              return Tensors{distribute::nn::conv2d(in[0], in[1], options,
                                                    with_bias ? in[2] : Tensor(), epilogue)};
            },
            inputs, kExact);
      }
  if (gpu.dnn) {
    CHECK(FakeCudnn::executed > 0);
    CHECK(FakeCudnn::plans > 0);
  }
}

TEST_CASE("filters are turned round once for a convolution and its gradient",
          "[ops][gpu_convolution]") {
  const FakeCuda fake;
  const distribute::ScopedCudaBlas blas(FakeBlas::table());
  const distribute::cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  const distribute::Device device{distribute::DeviceType::Gpu, 0};
  const Tensor x = contract_numbers({2, 5, 5, 4}).to(device);
  const Tensor w = contract_numbers({3, 3, 4, 8}, 2).to(device);
  distribute::GradientTape tape;
  tape.watch(x);
  tape.watch(w);
  const Tensor y = distribute::nn::conv2d(x, w);
  CHECK(fake.count("launch transpose_matrix") == 1);
  tape.gradient(y, std::vector<Tensor>{x, w});
  CHECK(fake.count("launch transpose_matrix") == 2);  // that of the filters' gradient
}

TEST_CASE("batch normalization on cuDNN agrees with the CPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  struct Case {
    distribute::Shape shape;
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
                     const auto norm = distribute::nn::fused_batch_norm(
                         in[0], c.scaled ? in[1] : Tensor(), c.scaled ? in[2] : Tensor(),
                         {.residual = c.residual ? in[3] : Tensor(), .epilogue = c.epilogue});
                     return Tensors{norm.y, norm.batch_mean, norm.batch_variance};
                   },
                   inputs, {.tolerance = 2e-5f});
    if (gpu.dnn) CHECK(FakeCudnn::executed >= executed + 2);  // there and back
  }
}

TEST_CASE("a residual without ReLU is normalized without cuDNN", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  check_contract(
      "fused_batch_norm",
      [=](const Tensors& in) {
        return Tensors{distribute::nn::fused_batch_norm(in[0], {}, {}, {.residual = in[1]}).y};
      },
      {contract_numbers({3, 2, 2, 8}), contract_numbers({3, 2, 2, 8}, 2)}, {.tolerance = 2e-5f});
  if (gpu.dnn) CHECK(FakeCudnn::executed == 0);
}

TEST_CASE("a normalization without a way back in cuDNN is made without it",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  FakeCudnn::has_norm_backward = false;
  check_contract(
      "fused_batch_norm",
      [=](const Tensors& in) {
        return Tensors{distribute::nn::fused_batch_norm(in[0], in[1], in[2]).y};
      },
      {contract_numbers({3, 2, 5, 8}), contract_numbers({8}, 2), contract_numbers({8}, 3)},
      {.tolerance = 2e-5f});
  CHECK(FakeCudnn::executed == 0);
}

TEST_CASE("the gradient of cuDNN's normalization says that it has none", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  const distribute::Device device{distribute::DeviceType::Gpu, 0};
  const Tensor x = contract_numbers({3, 2, 5, 8}).to(device);
  distribute::GradientTape outer;
  outer.watch(x);
  distribute::GradientTape inner;
  inner.watch(x);
  const Tensor y = distribute::nn::fused_batch_norm(x, {}, {}, {.epilogue = Epilogue::Relu}).y;
  const Tensor dx = inner.gradient(y * y, x);
  CHECK_THROWS_WITH(outer.gradient(dx, x), Catch::Contains("fused_batch_norm gradient has no"));
}

TEST_CASE("16-bit convolutions and products need no detour on a GPU", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (DType dtype : {DType::BFloat16, DType::Float16}) {
    const auto half = [=](const Tensor& t) { return distribute::cast(t, dtype); };
    const ContractOptions rough{.tolerance = 2e-2f};
    check_contract(
        "conv2d",
        [=](const Tensors& in) {
          return Tensors{
              distribute::nn::conv2d(half(in[0]), half(in[1]), {}, half(in[2]), Epilogue::Relu)};
        },
        {contract_numbers({2, 6, 6, 3}), contract_numbers({3, 3, 3, 8}, 2, 0.3f),
         contract_numbers({8}, 3)},
        rough);
    check_contract(
        "with float32 weights",
        [=](const Tensors& in) {
          const Tensor y = distribute::nn::conv2d(half(in[0]), in[1], {}, in[2], Epilogue::Relu);
          return Tensors{y, distribute::nn::dense(half(in[3]), in[4], in[2])};
        },
        {contract_numbers({2, 6, 6, 3}), contract_numbers({3, 3, 3, 8}, 2, 0.3f),
         contract_numbers({8}, 3), contract_numbers({6, 5}), contract_numbers({5, 8}, 2)},
        rough);
    check_contract(
        "dense",
        [=](const Tensors& in) {
          return Tensors{distribute::nn::dense(half(in[0]), half(in[1]), half(in[2]))};
        },
        {contract_numbers({6, 5}), contract_numbers({5, 3}, 2), contract_numbers({3}, 3)}, rough);
    check_contract(
        "fused_batch_norm",
        [=](const Tensors& in) {
          return Tensors{
              distribute::nn::fused_batch_norm(
                  half(in[0]), in[1], in[2], {.residual = half(in[3]), .epilogue = Epilogue::Relu})
                  .y};
        },
        {contract_numbers({3, 4, 5, 8}), contract_numbers({8}, 2), contract_numbers({8}, 3),
         contract_numbers({3, 4, 5, 8}, 4)},
        rough);
  }
}

#endif
