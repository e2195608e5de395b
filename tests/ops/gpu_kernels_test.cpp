// Every kernel text compiles, each row of it for the oldest architecture and for one newer one;
// needs NVRTC, but no GPU. Wide loads are looked for in PTX of the oldest.
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/ops/detail/binary_rows.hpp>
#include <distribute/ops/detail/unary_rows.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/sgd.hpp>

#include "../support/catch.hpp"

#include <regex>

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
constexpr char kTranspose[] =
#include <distribute/device/kernels/transpose.cu.inc>
    ;
constexpr char kResizeRows[] =
#include <distribute/device/kernels/resize_rows.cu.inc>
    ;
constexpr char kBlendAverages[] =
#include <distribute/device/kernels/blend_averages.cu.inc>
    ;
constexpr char kNormVectors[] =
#include <distribute/device/kernels/norm_vectors.cu.inc>
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

constexpr DType kAll[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                          DType::Int64,   DType::UInt8,    DType::Bool};

/// What NVRTC gives of a text beside machine code: ptxas's report, and PTX.
struct Compiled {
  std::string log, ptx;
};

class Compiler {
 public:
  Compiler() : problem_(distribute::load_cuda_compiler(compiler_)) {}
  const std::string& problem() const { return problem_; }

  /// No register of a kernel may go to memory; what its accesses are like is kept.
  void check(const KernelName& kernel, int capability) {
    INFO(kernel.function << " " << kernel.row << " for sm_" << capability);
    const Compiled compiled = compile(distribute::kernel_text(kernel), capability);
    static const std::regex spill(R"(([1-9]\d*) bytes spill)");
    std::smatch found;
    if (std::regex_search(compiled.log, found, spill))
      FAIL_CHECK(found[0] << " in\n" << compiled.log);
    if (capability == 80) keep_accesses(compiled.ptx);
  }
  /// Kernels some of whose loads are of 128 bits, by name without the number of a row.
  const std::set<std::string>& wide_loads() const { return wide_; }
  std::string ptx_of(const std::string& entry) const {
    const auto found = entries_.find(entry);
    return found == entries_.end() ? "" : found->second;
  }

 private:
  Compiled compile(const std::string& text, int capability) {
    const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
    const char* const options[] = {architecture.c_str(), "--std=c++20", "-default-device",
                                   "--ptxas-options=-v"};
    distribute::CudaHandle program = nullptr;
    REQUIRE(compiler_.nvrtcCreateProgram(&program, text.c_str(), "text.cu", 0, nullptr, nullptr) ==
            0);
    const auto result = compiler_.nvrtcCompileProgram(program, 4, options);
    Compiled compiled;
    size_t bytes = 0;
    compiler_.nvrtcGetProgramLogSize(program, &bytes);
    compiled.log.resize(bytes);
    compiler_.nvrtcGetProgramLog(program, compiled.log.data());
    INFO(compiled.log);
    CHECK(result == distribute::kCudaSuccess);
    compiler_.nvrtcGetPTXSize(program, &bytes);
    compiled.ptx.resize(bytes);
    compiler_.nvrtcGetPTX(program, compiled.ptx.data());
    compiler_.nvrtcDestroyProgram(&program);
    return compiled;
  }

  void keep_accesses(const std::string& ptx) {
    static const std::regex name(R"(^\w+)"), row(R"(_\d+$)"),
        wide(R"(ld\.(global\.)?(nc\.)?(v4\.[ubf]32|v2\.[ubf]64|b128))");
    for (size_t at = ptx.find(".entry "); at != std::string::npos;) {
      const size_t next = ptx.find(".entry ", at + 1);
      const std::string body = ptx.substr(at + 7, next == std::string::npos ? next : next - at - 7);
      std::smatch found;
      REQUIRE(std::regex_search(body, found, name));
      const std::string kernel = std::regex_replace(found[0].str(), row, "");
      entries_[kernel] = body;
      if (std::regex_search(body, wide)) wide_.insert(kernel);
      at = next;
    }
  }

  distribute::CudaCompiler compiler_;
  std::string problem_;
  std::set<std::string> wide_;
  std::map<std::string, std::string> entries_;
};

/// The oldest architecture knows the fewest instructions and gets all, each newer one a third.
template <typename T>
static std::vector<T> part_for(int capability, const std::vector<T>& all) {
  constexpr int kNewer[] = {86, 90, 100};
  std::vector<T> taken;
  for (size_t i = 0; i < all.size(); ++i)
    if (capability == 80 || kNewer[i % 3] == capability) taken.push_back(all[i]);
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
      formula_of<Ftrl>(FtrlOptions{}),
      formula_of<Lamb>(LambOptions{})};
  for (double momentum : {0.0, 0.9})
    for (bool centered : {false, true})
      formulas.push_back(
          formula_of<RMSprop>(RMSpropOptions{.momentum = momentum, .centered = centered}));
  return formulas;
}

/// Rows of all operations and optimizers.
struct Rows {
  Rows() {
    for (const distribute::GpuFormula& formula : update_formulas()) {
      if (update.find(formula.rows) == std::string::npos) update += formula.rows;
      update_names.emplace_back(formula.row);
    }
  }
  std::string_view unary = distribute::ops_internal::kUnaryRows;
  std::string_view binary = distribute::ops_internal::kBinaryRows;
  std::string update;
  std::vector<std::string> update_names;
  std::vector<std::string> unary_names = rows_of(std::string(unary), R"(struct (\w+) : From\w+)");
  std::vector<std::string> binary_names =
      rows_of(std::string(binary), R"(struct (\w+) \{ (?!static))");
  std::vector<std::string> reduce_names = rows_of(std::string(binary), R"(struct (\w+) \{ static)");
};

constexpr std::string_view kTransposeArguments =
    "struct TransposeArguments { const void* from; void* to; int64_t rows; int64_t columns; }; "
    "struct TransposeManyArguments { const void* from[144]; void* to[144]; int32_t rows[144]; "
    "int32_t columns[144]; int32_t end[144]; int32_t matrices; };";

/// This architecture's part of all rows and texts.
static void check_architecture(Compiler& compiler, int capability) {
  const Rows rows;
  const auto part = [&](const auto& names) { return part_for(capability, names); };
  for (const std::string& text :
       {with_rows(rows.unary, part(rows.unary_names), kElementwise,
                  {"map_value", "map_slope", "map_curve"}),
        with_rows(rows.binary, part(rows.binary_names), kBroadcast, {"broadcast"}),
        with_rows(rows.binary, part(rows.reduce_names), kReduce,
                  {"reduce_lines", "reduce_columns"}),
        with_rows(rows.update, part(rows.update_names), kUpdate, {"update"})})
    compiler.check({text, "rows", {}, {}, {DType::Float32, DType::Float32}}, capability);
  const std::vector<const char*> texts{kStrided, kCombine, kSoftmax, kLayerNorm, kRandom,
                                       kPool,    kMatmul,  kConv,    kMatrix,    kNumbers};
  for (const char* text : part(texts))
    compiler.check({text, "text", {}, {}, {DType::Float32, DType::Int64}}, capability);
  for (const char* text : {kConvert, kMatrix})
    compiler.check({text, "text", {}, {}, {DType::Float32, DType::BFloat16}}, capability);
  compiler.check(
      {kTranspose, "transpose", kTransposeArguments, {}, {DType::Float32, DType::BFloat16}},
      capability);
}

}  // namespace distribute::testing

using namespace distribute::testing;

#define SKIP_WITHOUT_COMPILER(compiler)        \
  if (!(compiler).problem().empty()) {         \
    WARN("skipped: " << (compiler).problem()); \
    return;                                    \
  }

TEST_CASE("every kernel compiles for the oldest architecture", "[ops][gpu_kernels]") {
  const Rows rows;
  CHECK(rows.unary_names.size() >= 28);
  CHECK(rows.binary_names.size() >= 17);
  CHECK(rows.reduce_names.size() == 4);
  CHECK(std::set(rows.update_names.begin(), rows.update_names.end()).size() ==
        rows.update_names.size());
  Compiler compiler;
  SKIP_WITHOUT_COMPILER(compiler);
  check_architecture(compiler, 80);
  // Those that wait for memory move 16 bytes at once.
  for (const char* kernel : {"avg_pool",
                             "avg_pool_gradient",
                             "broadcast",
                             "column_sums",
                             "combine",
                             "convert",
                             "cross_entropy",
                             "cross_entropy_gradient",
                             "dropout",
                             "gather",
                             "layer_norm",
                             "layer_norm_gradient",
                             "layer_norm_parameters",
                             "map_slope",
                             "map_value",
                             "max_pool",
                             "max_pool_gradient",
                             "reduce_lines",
                             "select",
                             "softmax",
                             "strided_copy",
                             "update"}) {
    INFO(kernel);
    CHECK(compiler.wide_loads().contains(kernel));
  }
  // The bits of the CPU: no multiplication and addition in one.
  const std::string uniform = compiler.ptx_of("uniform");
  CHECK(uniform.find("mul.rn.f32") != std::string::npos);
  CHECK(uniform.find("fma") == std::string::npos);
}

TEST_CASE("every kernel compiles for one of the newer architectures", "[ops][gpu_kernels][newer]") {
  Compiler compiler;
  SKIP_WITHOUT_COMPILER(compiler);
  for (const int capability : {86, 90, 100}) check_architecture(compiler, capability);
}

TEST_CASE("kernels compile for the types that they are launched with",
          "[ops][gpu_kernels][types]") {
  Compiler compiler;
  SKIP_WITHOUT_COMPILER(compiler);
  const std::string_view unary = distribute::ops_internal::kUnaryRows;
  const std::string_view binary = distribute::ops_internal::kBinaryRows;
  const std::string_view transpose = kTransposeArguments;
  for (DType type : {DType::BFloat16, DType::Float16}) {  // float32 is in the case above
    compiler.check({kMatrix, "matrix", {}, {}, {DType::Float32, type}}, 90);
    compiler.check({kTranspose, "transpose", transpose, {}, {DType::Float32, type}}, 90);
    compiler.check({kTranspose, "transpose", transpose, {}, {type, DType::Float32}}, 90);
    compiler.check({kElementwise, "map", unary, "Relu", {type}}, 90);
    for (const char* text : {kSoftmax, kLayerNorm, kPool, kRandom, kCombine, kMatrix})
      compiler.check({text, "text", {}, {}, {type}}, 90);
  }
  for (DType type : {DType::Int32, DType::Int64})
    compiler.check({kRandom, "random", {}, {}, {type}}, 90);
  for (DType type : {DType::UInt8, DType::BFloat16, DType::Int32, DType::Int64})  // as for sizes
    compiler.check({kStrided, "strided", {}, {}, {type}}, 90);
  for (DType type : kAll) {
    if (!distribute::is_floating(type))
      compiler.check({kCombine, "combine", {}, {}, {type, DType::Int32}}, 90);
    compiler.check({kBroadcast, "broadcast", binary, "Less", {type, DType::Bool}}, 90);
    compiler.check({kReduce, "reduce", binary, "SumOf", {type}}, 90);
    compiler.check({kConvert, "convert", {}, {}, {type, DType::Float32}}, 90);
    compiler.check({kConvert, "convert", {}, {}, {DType::Float32, type}}, 90);
  }
  const std::string_view resize =
      "struct ResizeRowsArguments { const void* from; void* to; int64_t rows; int64_t "
      "from_columns; "
      "int64_t to_columns; };";
  compiler.check({kResizeRows, "resize_rows", resize, {}, {DType::BFloat16}}, 90);
  const std::string_view blend =
      "struct BlendAveragesArguments { const float* old[2]; const float* latest[2]; float* out[2]; "
      "int64_t count; float keep; float take; };";
  compiler.check({kBlendAverages, "blend_averages", blend}, 90);
  const std::string_view vectors =
      "struct NormVectorsArguments { const float* totals; const float* scale; const float* offset; "
      "float* mean; float* variance; float* deviation; float* factor; float* shift; int64_t "
      "channels; float epsilon; }; struct NormVarianceArguments { const float* deviation; float* "
      "variance; int64_t channels; float epsilon; }; struct NormGradientVectorsArguments { const "
      "float* totals; "
      "const float* own; const float* all; const float* mean; const float* deviation; const float* "
      "factor; float* dscale; float* doffset; float* slope; float* constant; int64_t channels; };";
  for (const char* kernel : {"norm_vectors", "norm_variance"})
    compiler.check({kNormVectors, kernel, vectors}, 90);
}
