#include <distribute/base/detail/simd_math.hpp>

#include <tests/support/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace distribute;

namespace {

/// A function of simd_math.hpp over many numbers, and the C library's in double precision.
struct Case {
  std::string name;
  void (*run)(const float* x, float* y, int64_t count);
  double (*exact)(double);
};

#define DISTRIBUTE_CASE(name)                                                   \
  Case {                                                                        \
#name,                                                                        \
       [](const float* x, float* y, int64_t count) {                                 \
         simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {                                  \
           _Pragma("omp simd") for (int64_t i = 0; i < count; ++i)                   \
               y[i] = simd_math::portable::name(x[i]);                               \
         });                                                                         \
       },                                                                            \
       [](double x) { return std::name(x); } \
  }

const std::vector<Case> kCases{DISTRIBUTE_CASE(exp),  DISTRIBUTE_CASE(expm1),
                               DISTRIBUTE_CASE(log),  DISTRIBUTE_CASE(log1p),
                               DISTRIBUTE_CASE(tanh), DISTRIBUTE_CASE(erf)};

/// Returns the distance of `got` from `exact` in units of the last place of the float next to it.
double error_in_units(float got, double exact) {
  const auto nearest = float(exact);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : 1e9;
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) ? 0 : 1e9;
  if (!std::isfinite(nearest)) return 1e9;
  const double unit = std::abs(double(std::nextafter(nearest, 2 * nearest)) - double(nearest));
  return std::abs(double(got) - exact) / unit;
}

}  // namespace

TEST_CASE("functions that loops compute in vectors are within 2.5 units in the last place",
          "[base][simd_math]") {
  const auto& [name, run, exact] =
      kCases[GENERATE(size_t(0), size_t(1), size_t(2), size_t(3), size_t(4), size_t(5))];
  CAPTURE(name);
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4999)  // of every sign and exponent
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (float near = -20; near < 20; near += 0.0011f) x.push_back(near);
  std::vector<float> y(x.size());
  run(x.data(), y.data(), int64_t(x.size()));
  double worst = 0;
  float at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (const double error = error_in_units(y[i], exact(double(x[i]))); error > worst)
      worst = error, at = x[i];
  CAPTURE(at);
  CHECK(worst <= 2.5);
}

TEST_CASE("limits of functions that loops compute in vectors are those of <cmath>",
          "[base][simd_math]") {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> x{
      0.0f,   -0.0f, inf,    -inf,    std::numeric_limits<float>::quiet_NaN(),
      tiny,   -tiny, 1.0f,   -1.0f,   88.7228394f,
      88.73f, -104,  -87.5f, -103.9f, std::numeric_limits<float>::max(),
      1e-38f, 1e-7f, -2.0f};
  for (const auto& [name, run, exact] : kCases) {
    std::vector<float> y(x.size());
    run(x.data(), y.data(), int64_t(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(name, x[i], y[i]);
      CHECK(error_in_units(y[i], exact(double(x[i]))) <= 2.5);
    }
  }
}
