// Products and convolutions of 16-bit floats against those of the same numbers widened to float32,
// on each instruction set that this machine's oneDNN can be held to.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/sequence.hpp>

#include "../support/catch.hpp"
#include "../support/check_close.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"
#include "../support/watching_tape.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

using namespace distribute;

namespace {

constexpr double kRounding = 1.0 / 128;  // of bfloat16, a unit in the last of 8 bits

Tensor wide(const Tensor& t) { return cast(t, DType::Float32); }

/// Equal but for the rounding of the result, and of sums that cancel.
void check_rounded(const Tensor& actual, const Tensor& wanted, double size = 1) {
  REQUIRE(actual.shape() == wanted.shape());
  const auto a = wide(actual).to_vector(), b = wide(cast(wanted, actual.dtype())).to_vector();
  for (size_t i = 0; i < a.size(); ++i) {  // without an assertion for each of millions
    const bool fits = std::isnan(b[i])   ? std::isnan(a[i])
                      : std::isinf(b[i]) ? a[i] == b[i]
                                         : std::abs(double(a[i]) - b[i]) <=
                                               kRounding * std::abs(b[i]) + 1e-5 * size;
    if (!fits)
      FAIL_CHECK("element " << i << " of " << to_string(wanted.shape()) << ": " << a[i]
                            << ", wanted " << b[i]);
  }
}

void check_matmul(const Shape& a_shape, const Shape& b_shape, MatmulOptions options, DType type) {
  INFO(to_string(a_shape) << " x " << to_string(b_shape) << " " << name_of(type));
  const Tensor a = cast(test_tensor(a_shape, 1), type), b = cast(test_tensor(b_shape, 2), type);
  const auto run = [&](const Tensor& x, const Tensor& y) {
    WatchingTape tape({x, y});
    const Tensor c = matmul(x, y, options);
    const Tensor dc = cast(cast(test_tensor(c.shape(), 3), type), c.dtype());
    auto all = tape.gradient({c}, {x, y}, {.output_gradients = {dc}});
    all.push_back(c);
    return all;
  };
  const auto narrow = run(a, b), widened = run(wide(a), wide(b));
  for (size_t i = 0; i < 3; ++i) {
    CHECK(narrow[i].dtype() == type);
    check_rounded(narrow[i], widened[i], 10);
  }
}

void check_dense(DType type, const DType kernel_type, Epilogue epilogue, int64_t rows) {
  INFO(name_of(type) << " and " << name_of(kernel_type) << ", " << rows << " rows");
  const Tensor x = cast(test_tensor({rows, 3, 37}, 1), type);
  const Tensor kernel = cast(test_tensor({37, 19}, 2), kernel_type);
  const Tensor bias = cast(test_tensor({19}, 3), kernel_type);
  const Tensor dy = cast(test_tensor({rows, 3, 19}, 4), type);
  const auto run = [&](const Tensor& in, const Tensor& w, const Tensor& b, const Tensor& d) {
    WatchingTape tape({in, w, b});
    const Tensor y = nn::dense(in, w, b, epilogue);
    auto all = tape.gradient({y}, {in, w, b}, {.output_gradients = {d}});
    all.push_back(y);
    return all;
  };
  const auto narrow = run(x, kernel, bias, dy);
  // Where the product takes 16 bits, so does the kernel.
  const bool taken = backend(DeviceType::Cpu).multiplies(type);
  const auto widened =
      run(wide(x), taken ? wide(cast(kernel, type)) : wide(kernel), wide(bias), wide(dy));
  for (size_t i = 0; i < 4; ++i) {
    CHECK(narrow[i].dtype() == (i == 0 || i == 3 ? type : kernel_type));
    // A result close to zero may fall to the other side of ReLU's gate.
    check_rounded(narrow[i], widened[i], epilogue == Epilogue::Relu ? 1000 : 10);
  }
}

void check_recurrent(nn::RecurrentCell cell, DType type) {
  INFO("cell " << int(cell) << " " << name_of(type));
  const int64_t wide_units = gates_of(cell) * 9;
  const auto rounded = [&](const Shape& shape, uint64_t seed) {
    return cast(test_tensor(shape, seed, -0.5, 0.5), type);
  };
  const bool gru = cell == nn::RecurrentCell::Gru;
  const std::vector<Tensor> inputs{rounded({3, 5, 7}, 1), rounded({7, wide_units}, 2),
                                   rounded({9, wide_units}, 3),
                                   rounded(gru ? Shape{2, wide_units} : Shape{wide_units}, 4)};
  const auto run = [&](const std::vector<Tensor>& in) {
    WatchingTape tape(in);
    const Tensor y =
        nn::recurrent(in[0], {in[1], in[2], in[3]}, {.cell = cell, .return_sequences = true})
            .output;
    auto all = tape.gradient(y, in);
    all.push_back(y);
    return all;
  };
  std::vector<Tensor> floats;
  for (const Tensor& t : inputs) floats.push_back(wide(t));
  const auto narrow = run(inputs), widened = run(floats);
  for (size_t i = 0; i < narrow.size(); ++i) {
    CHECK(narrow[i].dtype() == type);
    check_rounded(narrow[i], widened[i], 2000);  // states are rounded on their way
  }
}

void check_attention(const Shape& queries, const Shape& keys, const nn::AttentionOptions& options,
                     DType type) {
  INFO(to_string(queries) << " and " << to_string(keys) << " " << name_of(type));
  const std::vector<Tensor> inputs{cast(test_tensor(queries, 1), type),
                                   cast(test_tensor(keys, 2), type),
                                   cast(test_tensor(keys, 3), type)};
  const auto run = [&](const std::vector<Tensor>& in) {
    WatchingTape tape(in);
    const Tensor y = nn::dot_product_attention(in[0], in[1], in[2], options);
    auto all =
        tape.gradient({y}, in, {.output_gradients = {cast(test_tensor(y.shape(), 4), y.dtype())}});
    all.push_back(y);
    return all;
  };
  std::vector<Tensor> floats;
  for (const Tensor& t : inputs) floats.push_back(wide(t));
  const auto narrow = run(inputs), widened = run(floats);
  for (size_t i = 0; i < narrow.size(); ++i) {
    CHECK(narrow[i].dtype() == type);
    check_rounded(narrow[i], widened[i], 2000);  // probabilities are rounded on their way
  }
}

void check_attentions(DType type) {
  const Tensor query_mask =
      cast(Tensor({2, 5}, std::vector<int32_t>{1, 1, 0, 1, 0, 1, 1, 1, 1, 0}), DType::Bool);
  const Tensor key_mask = cast(
      Tensor({2, 7}, std::vector<int32_t>{1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}), DType::Bool);
  Tensor mask = Tensor::empty({2, 5, 7}, DType::Bool);
  for (int64_t i = 0; i < mask.num_elements(); ++i) mask.mutable_data<bool>()[i] = i % 3 != 1;
  check_attention({2, 5, 4, 9}, {2, 7, 4, 9}, {}, type);
  check_attention({2, 5, 4, 9}, {2, 7, 4, 9}, {.scale = -0.7}, type);
  check_attention({2, 5, 4, 9}, {2, 7, 4, 9}, {.query_mask = query_mask}, type);
  check_attention({2, 5, 4, 9}, {2, 7, 4, 9}, {.key_mask = key_mask, .mask = mask}, type);
  check_attention({2, 5, 4, 9}, {2, 7, 4, 9}, {.is_causal = true, .mask = mask}, type);
  check_attention({1, 150, 8, 16}, {1, 150, 8, 16}, {.is_causal = true}, type);
  check_attention({1, 300, 8, 4}, {1, 70, 8, 4}, {.is_causal = true}, type);
  check_attention({1, 3, 2, 4}, {1, 3, 2, 4}, {}, type);
  const Tensor bad = cast(fill({1, 4, 8, 4}, std::nanf("")), type);
  for (const float x : wide(nn::dot_product_attention(bad, bad, bad)).to_vector())
    CHECK(std::isnan(x));
}

/// What oneDNN takes of this machine is in the environment.
void check_products_of(DType type) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const int64_t size : {1, 3, 17, 33}) {
        const int64_t m = size, k = 2 * size + 1, n = size + 4;
        check_matmul(ta ? Shape{k, m} : Shape{m, k}, tb ? Shape{n, k} : Shape{k, n}, {ta, tb},
                     type);
        check_matmul(ta ? Shape{2, 3, k, m} : Shape{2, 3, m, k},
                     tb ? Shape{3, n, k} : Shape{3, k, n}, {ta, tb}, type);
      }
  check_matmul({200, 300}, {300, 70}, {}, type);
  check_matmul({4, 0}, {0, 5}, {}, type);
  check_matmul({0, 4}, {4, 5}, {}, type);
  for (const Epilogue epilogue : {Epilogue::None, Epilogue::Relu})
    for (const int64_t rows : {0, 1, 11, 50, 400}) {  // kernels differ for up to 64 and from 1,024
      check_dense(type, DType::Float32, epilogue, rows);
      check_dense(type, type, epilogue, rows);
    }
  for (const auto cell :
       {nn::RecurrentCell::Simple, nn::RecurrentCell::Lstm, nn::RecurrentCell::Gru})
    check_recurrent(cell, type);
}

/// The images have 16 bits, the filters are rounded to them and their gradient has 32.
void check_convolution(const Shape& images, const Shape& kernel, nn::Conv2DOptions options,
                       DType type) {
  INFO(to_string(images) << " by " << to_string(kernel) << " " << name_of(type));
  const Tensor x = cast(test_tensor(images, 1), type);
  const Tensor filters = wide(cast(test_tensor(kernel, 2), type));
  const auto run = [&](const Tensor& of) {
    WatchingTape tape({of, filters});
    const Tensor y = nn::conv2d(of, filters, options);
    const Tensor dy = cast(cast(test_tensor(y.shape(), 3), type), y.dtype());
    auto all = tape.gradient({y}, {of, filters}, {.output_gradients = {dy}});
    all.push_back(y);
    return all;
  };
  const auto narrow = run(x), widened = run(wide(x));
  CHECK(narrow[2].dtype() == type);
  for (size_t i = 0; i < 3; ++i) check_rounded(narrow[i], widened[i], 10);
}

void check_convolutions_of(DType type) {
  check_convolution({2, 9, 9, 16}, {3, 3, 16, 32}, {.padding = Padding::Same}, type);
  check_convolution({2, 9, 9, 16}, {1, 1, 16, 16}, {}, type);
  check_convolution({2, 9, 8, 3}, {5, 5, 3, 8}, {.strides = {2, 2}}, type);
  check_convolution({2, 9, 9, 16}, {3, 3, 4, 16}, {.dilations = {2, 2}, .groups = 4}, type);
}

void check_numbers_beyond(DType type) {
  const float inf = std::numeric_limits<float>::infinity(),
              large = type == DType::Float16 ? 6e4f : 3e38f;
  const Tensor a =
      cast(Tensor({3, 2}, std::vector<float>{inf, 0, std::nanf(""), 1, large, large}), type);
  const Tensor b = cast(Tensor({2, 2}, std::vector<float>{2, 0, 1, 1}), type);
  check_rounded(matmul(a, b), matmul(wide(a), wide(b)));
  CHECK(std::isinf(matmul(a, b).to_vector()[0]));
  CHECK(std::isnan(matmul(a, b).to_vector()[1]));
}

}  // namespace

TEST_CASE("products and convolutions of 16-bit floats are those of float32, rounded",
          "[ops][matmul][.half_products]") {
  for (const DType type : {DType::BFloat16, DType::Float16}) {
    check_products_of(type);
    check_convolutions_of(type);
    check_numbers_beyond(type);
    check_attentions(type);
  }
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string way = cpu_products_of_half();
  if (limit && (std::string(limit) == "AVX2" || std::string(limit) == "AVX512_CORE"))
    CHECK_THAT(way, Contains("bfloat16 widened to float32"));
#if defined(__x86_64__)
  if (limit && std::string(limit).ends_with("_BF16") && onednn_backend() && simd_level() == 2 &&
      __builtin_cpu_supports("avx512bf16"))
    CHECK_THAT(way, Contains("bfloat16 by oneDNN's"));
#endif
}

TEST_CASE("products and convolutions of 16-bit floats on every instruction set", "[ops][matmul]") {
  const std::string isa = GENERATE(as<std::string>{}, "DEFAULT", "AVX2", "AVX512_CORE",
                                   "AVX512_CORE_BF16", "AVX512_CORE_AMX");
  INFO(isa);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("ONEDNN_MAX_CPU_ISA", isa.c_str(), 1);
    ::execl("/proc/self/exe", "test", "[.half_products]", nullptr);
    ::_exit(127);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
