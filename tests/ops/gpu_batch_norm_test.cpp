// Batch normalization of a training step by way of cuDNN (a fake that reads its descriptors, or the
// real one on a real GPU): the same as on the CPU.
#include <distribute/ops/gpu_batch_norm.hpp>

#include <distribute/ops/cast.hpp>
#include <distribute/ops/elementwise.hpp>

#include "support/fake_cudnn.hpp"
#include "support/gpu_contract.hpp"

#include <optional>

using namespace distribute::testing;
using distribute::DType;
using distribute::Epilogue;
using distribute::Tensor;
using Tensors = std::vector<Tensor>;

TEST_CASE("without cuDNN there is no fused kernel", "[ops][gpu_batch_norm][no_gpu]") {
  FakeCuda fake;  // libraries are not used with it
  const Tensor x = contract_numbers({4, 3}).to({distribute::DeviceType::Gpu, 0});
  CHECK_FALSE(
      distribute::ops_internal::gpu_batch_norm(x, {}, {}, 1e-3f, Epilogue::None).has_value());
  const auto norm = distribute::nn::fused_batch_norm(x, {}, {});
  CHECK(norm.y.device().type == distribute::DeviceType::Gpu);
}

#if DISTRIBUTE_HAS_CUDNN

TEST_CASE("batch normalization on cuDNN agrees with the CPU", "[ops][gpu_batch_norm]") {
  ContractGpu gpu;
  std::optional<distribute::cudnn_internal::ScopedCudnn> dnn;
  const char* real = std::getenv("DISTRIBUTE_TEST_GPU");
  if (!real || std::string(real) != "1") dnn.emplace(FakeCudnn::table());
  for (const auto& shape : {distribute::Shape{3, 4, 5, 8}, distribute::Shape{7, 8}})
    for (Epilogue epilogue : {Epilogue::None, Epilogue::Relu})
      for (bool with_scale : {true, false}) {
        Tensors inputs{contract_numbers(shape, 1, 2)};
        if (with_scale)
          inputs.insert(inputs.end(), {contract_numbers({8}, 2), contract_numbers({8}, 3)});
        check_contract("fused_batch_norm",
                       [=](const Tensors& in) {
                         const auto norm = distribute::nn::fused_batch_norm(
                             in[0], with_scale ? in[1] : Tensor(), with_scale ? in[2] : Tensor(),
                             {.epilogue = epilogue});
                         return Tensors{norm.y};
                       },
                       inputs, {.tolerance = 2e-5f});
      }
  if (dnn) CHECK(FakeCudnn::executed == 2 * 2 * 2 * 2);  // forward and backward of each
  check_contract("with a residual",
                 [](const Tensors& in) {
                   const auto norm = distribute::nn::fused_batch_norm(
                       in[0], {}, {}, {.residual = in[1], .epilogue = Epilogue::Relu});
                   return Tensors{norm.y};
                 },
                 {contract_numbers({3, 4, 5, 8}, 1, 2), contract_numbers({3, 4, 5, 8}, 2)},
                 {.tolerance = 2e-5f});
}

TEST_CASE("its statistics are the batch's, and 16-bit images stay so", "[ops][gpu_batch_norm]") {
  ContractGpu gpu;
  std::optional<distribute::cudnn_internal::ScopedCudnn> dnn;
  const char* real = std::getenv("DISTRIBUTE_TEST_GPU");
  if (!real || std::string(real) != "1") dnn.emplace(FakeCudnn::table());
  const Tensor x = contract_numbers({6, 2, 2, 8}, 4, 3);
  const auto cpu = distribute::nn::fused_batch_norm(x, {}, {});
  const auto on_gpu =
      distribute::nn::fused_batch_norm(x.to({distribute::DeviceType::Gpu, 0}), {}, {});
  check_contract_tensor("mean", cpu.batch_mean, on_gpu.batch_mean, 1e-5f);
  check_contract_tensor("variance", cpu.batch_variance, on_gpu.batch_variance, 1e-5f);
  CHECK(on_gpu.has_statistics);
  const Tensor half = distribute::cast(x.to({distribute::DeviceType::Gpu, 0}), DType::BFloat16);
  const auto rounded = distribute::nn::fused_batch_norm(half, {}, {});
  CHECK(rounded.y.dtype() == DType::BFloat16);
  CHECK(rounded.batch_mean.dtype() == DType::Float32);
  check_contract_tensor("y", distribute::cast(cpu.y, DType::BFloat16), rounded.y, 2e-2f);
}

#endif
