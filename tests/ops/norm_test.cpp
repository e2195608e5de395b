#include <distribute/base/error.hpp>
#include <distribute/ops/reduce.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("norms follow TensorFlow", "[ops][norm]") {
  check_tensor(norm(kMatrix), {}, {10.562315});
  check_tensor(norm(kMatrix, {.axes = {1}}), {3}, {6.24499798, 4.60977221, 7.16327429});
  check_tensor(norm(kMatrix, {.ord = 1, .axes = {0}, .keepdims = true}), {1, 4}, {6, 5.25, 7, 12});
  check_tensor(norm(kMatrix, {.ord = std::numeric_limits<double>::infinity(), .axes = {1}}), {3},
               {5, 4, 6});
  check_tensor(norm(kMatrix, {.ord = 3, .axes = {1}}), {3}, {5.44012213, 4.18172359, 6.37136173});
  check_tensor(norm(kCube, {.axes = {1, 2}}), {2}, {3.69120574, 8.75357056});
  check_tensor(nn::l2_normalize(kMatrix, {1}), {3, 4},
               {0.480384469, -0.160128161, 0.320256323, 0.800640821, 0.108465232, 0.867721856,
                -0.433860928, 0.216930464, 0.349002421, 0.0349002406, -0.418802887, 0.837605774});
  check_tensor(nn::l2_normalize(kMatrix, {}, 100), {3, 4},
               {0.284028649, -0.0946762115, 0.189352423, 0.473381042, 0.0473381057, 0.378704846,
                -0.189352423, 0.0946762115, 0.236690521, 0.0236690529, -0.284028649, 0.568057299});
}

TEST_CASE("gradients of norms", "[ops][norm]") {
  for (double ord : {1.0, 2.0, 3.0})
    check_gradient([=](const auto& in) { return norm(in[0], {.ord = ord, .axes = {1}}); },
                   {kMatrix});
  check_gradient([](const auto& in) { return nn::l2_normalize(in[0], {0}); }, {kMatrix});
  CHECK_THROWS_AS(norm(kMatrix, {.ord = 0}), InvalidArgumentError);
}
