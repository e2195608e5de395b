// Every kernel text compiles for every architecture, each row for two; needs NVRTC, but no GPU.
#include <distribute/device/cuda_module.hpp>
#include <distribute/ops/detail/binary_rows.hpp>
#include <distribute/ops/detail/unary_rows.hpp>
#include <distribute/optim/adadelta.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/adamax.hpp>
#include <distribute/optim/ftrl.hpp>
#include <distribute/optim/lion.hpp>
#include <distribute/optim/nadam.hpp>
#include <distribute/optim/rmsprop.hpp>
#include <distribute/optim/sgd.hpp>

#include "../support/catch.hpp"

#include <regex>
#include <set>
#include <string>
#include <vector>

using distribute::DType;
using distribute::KernelName;

// A translation unit of its own: texts are included inside.
namespace distribute::testing {

constexpr char kElementwise[] =
#include <distribute/device/kernels/elementwise.cu.inc>
    ;
constexpr char kBroadcast[] =
#include <distribute/device/kernels/broadcast.cu.inc>
    ;
constexpr char kConvert[] =
#include <distribute/device/kernels/copy.cu.inc>
    ;
constexpr char kStrided[] =
#include <distribute/device/kernels/strided.cu.inc>
    ;
constexpr char kCombine[] =
#include <distribute/device/kernels/combine.cu.inc>
    ;
constexpr char kReduce[] =
#include <distribute/device/kernels/reduce.cu.inc>
    ;
constexpr char kSoftmax[] =
#include <distribute/device/kernels/softmax.cu.inc>
    ;
constexpr char kLayerNorm[] =
#include <distribute/device/kernels/layer_norm.cu.inc>
    ;
constexpr char kRandom[] =
#include <distribute/device/kernels/random.cu.inc>
    ;
constexpr char kPool[] =
#include <distribute/device/kernels/pool.cu.inc>
    ;
constexpr char kMatmul[] =
#include <distribute/device/kernels/matmul.cu.inc>
    ;
constexpr char kConv[] =
#include <distribute/device/kernels/conv.cu.inc>
    ;
constexpr char kMatrix[] =
#include <distribute/device/kernels/matrix.cu.inc>
    ;
constexpr char kNumbers[] =
#include <distribute/device/kernels/numbers.cu.inc>
    ;
constexpr char kUpdate[] =
#include <distribute/device/kernels/update.cu.inc>
    ;

/// Names of the rows in a text that the pattern finds.
static std::vector<std::string> rows_of(const std::string& text, const char* pattern) {
  std::vector<std::string> names;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

constexpr DType kFloats[] = {DType::Float32, DType::BFloat16, DType::Float16};
constexpr DType kAll[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                          DType::Int64,   DType::UInt8,    DType::Bool};

class Compiler {
 public:
  Compiler() : problem_(distribute::load_cuda_compiler(compiler_)) {}
  const std::string& problem() const { return problem_; }
  void check(const KernelName& kernel, int capability) {
    INFO(kernel.function << " " << kernel.row << " for sm_" << capability);
    CHECK_NOTHROW(distribute::compile_kernels(compiler_, distribute::kernel_text(kernel),
                                              kernel.function, capability));
  }

 private:
  distribute::CudaCompiler compiler_;
  std::string problem_;
};

/// The oldest architecture knows the fewest instructions and gets all rows, each newer one a third.
static std::vector<std::string> rows_for(int capability, const std::vector<std::string>& names) {
  constexpr int kNewer[] = {86, 90, 100};
  std::vector<std::string> taken;
  for (size_t i = 0; i < names.size(); ++i)
    if (capability == 80 || kNewer[i % 3] == capability) taken.push_back(names[i]);
  return taken;
}

/// One text with the kernels of `body` for each row named: kernel k of row 2 is called k_2.
static std::string with_rows(std::string_view rows, const std::vector<std::string>& names,
                             const std::string& body, const std::vector<std::string>& kernels) {
  std::string text(rows);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string number = std::to_string(i);
    text += "\n#undef ROW\n#define ROW " + names[i] + "\n";
    for (const std::string& kernel : kernels)
      text += "#undef " + kernel + "\n#define " + kernel + " " + kernel + "_" + number + "\n";
    text += "namespace for_" + number + " {\n" + body + "}\n";
  }
  return text;
}

/// The formulas of all optimizers, by the text that defines them.
template <typename Base>
struct Opened : Base {
  using Base::Base;
  using Base::kernel;
};
template <typename Class, typename Options>
static distribute::GpuFormula formula_of(Options options) {
  return Opened<Class>(options).kernel(0.1f, 1).gpu();
}
static std::vector<distribute::GpuFormula> update_formulas() {
  using namespace distribute::optim;
  std::vector<distribute::GpuFormula> formulas{
      formula_of<SGD>(SGDOptions{}),
      formula_of<SGD>(SGDOptions{.momentum = 0.9}),
      formula_of<SGD>(SGDOptions{.momentum = 0.9, .nesterov = true}),
      formula_of<Adam>(AdamOptions{}),
      formula_of<Adam>(AdamOptions{.amsgrad = true}),
      formula_of<Adagrad>(AdagradOptions{}),
      formula_of<Nadam>(NadamOptions{}),
      formula_of<Adamax>(AdamaxOptions{}),
      formula_of<Adadelta>(AdadeltaOptions{}),
      formula_of<Lion>(LionOptions{}),
      formula_of<Ftrl>(FtrlOptions{})};
  for (double momentum : {0.0, 0.9})
    for (bool centered : {false, true})
      formulas.push_back(
          formula_of<RMSprop>(RMSpropOptions{.momentum = momentum, .centered = centered}));
  return formulas;
}

}  // namespace distribute::testing

using namespace distribute::testing;

TEST_CASE("every kernel compiles for every architecture", "[ops][gpu_kernels]") {
  Compiler compiler;
  if (!compiler.problem().empty()) {
    WARN("skipped: " << compiler.problem());
    return;
  }
  const std::string_view unary = distribute::ops_internal::kUnaryRows;
  const std::string_view binary = distribute::ops_internal::kBinaryRows;
  std::string update;
  std::vector<std::string> update_names;
  for (const distribute::GpuFormula& formula : update_formulas()) {
    if (update.find(formula.rows) == std::string::npos) update += formula.rows;
    update_names.emplace_back(formula.row);
  }
  const auto unary_names = rows_of(std::string(unary), R"(struct (\w+) : From\w+)");
  const auto binary_names = rows_of(std::string(binary), R"(struct (\w+) \{ (?!static))");
  const auto reduce_names = rows_of(std::string(binary), R"(struct (\w+) \{ static)");
  CHECK(unary_names.size() >= 28);
  CHECK(binary_names.size() >= 17);
  CHECK(reduce_names.size() == 4);
  CHECK(std::set(update_names.begin(), update_names.end()).size() == update_names.size());
  for (int capability : {80, 86, 90, 100}) {
    const auto part = [&](const auto& names) { return rows_for(capability, names); };
    for (const std::string& text :
         {with_rows(unary, part(unary_names), kElementwise,
                    {"map_value", "map_slope", "map_curve"}),
          with_rows(binary, part(binary_names), kBroadcast, {"broadcast"}),
          with_rows(binary, part(reduce_names), kReduce, {"reduce_lines", "reduce_columns"}),
          with_rows(update, part(update_names), kUpdate, {"update"})})
      compiler.check({text, "rows", {}, {}, {DType::Float32, DType::Float32}}, capability);
    for (const char* text : {kStrided, kCombine, kSoftmax, kLayerNorm, kRandom, kPool, kMatmul,
                             kConv, kMatrix, kNumbers})
      compiler.check({text, "text", {}, {}, {DType::Float32, DType::Int64}}, capability);
    compiler.check({kConvert, "convert", {}, {}, {DType::Float32, DType::BFloat16}}, capability);
  }
  for (DType type : kFloats) {
    compiler.check({kElementwise, "map", unary, "Relu", {type}}, 90);
    for (const char* text : {kSoftmax, kPool, kRandom, kCombine, kMatrix})
      compiler.check({text, "text", {}, {}, {type}}, 90);
  }
  for (DType type : {DType::Int32, DType::Int64})
    compiler.check({kRandom, "random", {}, {}, {type}}, 90);
  for (DType type : kAll) {
    compiler.check({kStrided, "strided", {}, {}, {type}}, 90);
    compiler.check({kCombine, "combine", {}, {}, {type, DType::Int32}}, 90);
    compiler.check({kBroadcast, "broadcast", binary, "Less", {type, DType::Bool}}, 90);
    compiler.check({kReduce, "reduce", binary, "SumOf", {type}}, 90);
    compiler.check({kConvert, "convert", {}, {}, {type, DType::Float32}}, 90);
    compiler.check({kConvert, "convert", {}, {}, {DType::Float32, type}}, 90);
  }
}
