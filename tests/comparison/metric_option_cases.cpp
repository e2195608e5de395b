/// Options of metrics, as metric_option_cases.py prints them.
#include "option_cases.hpp"

#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <cstdio>
#include <limits>
#include <optional>

namespace comparison {

namespace {

namespace m = nn::metrics;
using dist::DType;
using Data = std::vector<Pair>;

Tensor weight(const std::string& name) {
  if (name == "[6]") return abs(uniform({6}, 41));
  if (name == "[6, 1]") return abs(uniform({6, 1}, 41));
  if (name == "[6, 4]") return abs(uniform({6, 4}, 42));
  return name == "a number" ? Tensor(2.0f) : Tensor();
}

std::string figures(const Tensor& value) {
  std::string text;
  for (const int64_t size : value.shape().dims()) text += str_cat("[", size, "]");
  char number[32];
  for (const float one : value.to_vector()) {
    std::snprintf(number, sizeof number, " %.6g", double(one));
    text += number;
  }
  return text;
}

/// Results after each update of a metric that `make` gives.
template <typename Make>
void check(const std::string& name, Make make, const Data& data, const std::string& weights = "") {
  run_case("metric options/" + name, [&] {
    auto metric = make();
    std::string text;
    for (const auto& [y, p] : data) {
      metric.update_state(y, p, weight(weights));
      text += (text.empty() ? "" : " | ") + figures(metric.result());
    }
    return text;
  });
}
/// Of a class and its options.
template <typename M, typename Options>
void check_with(const std::string& name, const Options& options, const Data& data,
                const std::string& weights = "") {
  check(
      name, [&] { return M(options); }, data, weights);
}

template <typename Make>
Data twice(Make make) {
  return {make(uint64_t(0)), make(uint64_t(10))};
}
Data bit_data() {
  return twice([](uint64_t i) { return Pair{bits({6, 4}, 1 + i), positive({6, 4}, 3 + i)}; });
}
Data one_hot_data() {
  return twice([](uint64_t i) { return Pair{one_hot_of({6, 4}, 5 + i), positive({6, 4}, 6 + i)}; });
}
Data id_data() {
  return twice([](uint64_t i) { return Pair{class_ids({6}, 4, 7 + i), positive({6, 4}, 8 + i)}; });
}
Data number_data() {
  return twice([](uint64_t i) {
    return Pair{class_ids({6}, 4, 9 + i), class_ids({6}, 4, 10 + i)};
  });
}
Data real_data() {
  return twice([](uint64_t i) { return Pair{uniform({6, 4}, 11 + i), uniform({6, 4}, 12 + i)}; });
}
Data single(const Tensor& y, const Tensor& p) { return {{y, p}}; }
Data near_half() { return single(dist::ones({3}), Tensor{0.5f, 0.49f, 0.51f}); }
Data nothing() { return single(dist::zeros({0, 4}), dist::zeros({0, 4})); }

std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + python(value);
  return "[" + text + "]";
}
const char* const kSome[] = {"no weights", "[6]"};
const char* const kColumns[] = {"no weights", "[6]", "[6, 1]"};
const char* const kWeights[] = {"no weights", "[6]", "[6, 1]", "[6, 4]", "a number"};

template <typename M, typename Options>
void threshold_cases(const std::string& name) {
  const std::vector<std::pair<std::string, std::vector<double>>> all{{"none", {}},
                                                                     {"0.5", {0.5}},
                                                                     {"0", {0}},
                                                                     {"1", {1}},
                                                                     {"list", {0.2, 0.5, 0.8}},
                                                                     {"unsorted", {0.8, 0.2}},
                                                                     {"one", {0.3}},
                                                                     {"too large", {1.5}},
                                                                     {"negative", {-0.1, 0.5}}};
  for (const auto& [text, thresholds] : all)
    for (const char* weights : kSome) {
      Options options;
      options.thresholds = thresholds;
      check_with<M>(str_cat(name, " thresholds ", text, ", ", weights), options, bit_data(),
                    weights);
    }
  const Options none;
  for (const char* weights : kWeights)
    check_with<M>(name + " " + weights, none, bit_data(), weights);
  check_with<M>(name + " of predictions at the threshold", none, near_half());
  check_with<M>(name + " of predictions outside", none,
                single(dist::ones({2}), Tensor{-0.5f, 0.7f}));
  check_with<M>(name + " of targets of 2", none,
                single(Tensor{int64_t(2), int64_t(0), int64_t(1)}, Tensor{0.9f, 0.7f, 0.1f}));
  check_with<M>(name + " of bools", none, single(bools({2}, {1, 0}), bools({2}, {1, 1})));
  check_with<M>(name + " of columns", none, single(dist::ones({3, 1}), Tensor{0.9f, 0.1f, 0.8f}));
  check_with<M>(name + " of nothing", none, nothing());
}

template <typename M, typename Options>
void choice_cases(const std::string& name) {
  for (int k : {1, 2, 4, 5, 0})
    for (const std::optional<int> id : {std::optional<int>(), std::optional(0), std::optional(3)})
      for (const std::vector<double>& thresholds : {std::vector<double>{}, {0.3, 0.6}})
        check_with<M>(str_cat(name, " top_k ", k, " class_id ", id ? std::to_string(*id) : "None",
                              " thresholds ", thresholds.empty() ? "None" : list(thresholds)),
                      Options{.thresholds = thresholds, .top_k = k, .class_id = id}, bit_data());
  for (int id : {0, 1, 3, 4, -1})
    for (const char* weights : {"no weights", "[6]", "[6, 4]"})
      check_with<M>(str_cat(name, " class_id ", id, ", ", weights), Options{.class_id = id},
                    bit_data(), weights);
  check_with<M>(name + " top_k of one axis", Options{.top_k = 1},
                single(Tensor{0.0f, 1.0f, 0.0f}, Tensor{0.2f, 0.3f, 0.9f}));
  check_with<M>(name + " top_k of equals", Options{.top_k = 2},
                single(Tensor({1, 3}, std::vector<float>{0, 1, 0}),
                       Tensor({1, 3}, std::vector<float>{0.5f, 0.5f, 0.5f})));
}

void confusion_cases() {
  threshold_cases<m::TruePositives, m::ConfusionCountOptions>("TruePositives");
  threshold_cases<m::FalsePositives, m::ConfusionCountOptions>("FalsePositives");
  threshold_cases<m::TrueNegatives, m::ConfusionCountOptions>("TrueNegatives");
  threshold_cases<m::FalseNegatives, m::ConfusionCountOptions>("FalseNegatives");
  threshold_cases<m::Precision, m::PrecisionOptions>("Precision");
  threshold_cases<m::Recall, m::RecallOptions>("Recall");
  choice_cases<m::Precision, m::PrecisionOptions>("Precision");
  choice_cases<m::Recall, m::RecallOptions>("Recall");
}

using Method = m::AUCSummationMethod;

void area_cases_of(const std::string& text, const m::AUCOptions& base) {
  const auto with = [&](auto change) {
    m::AUCOptions options = base;
    change(options);
    return options;
  };
  for (int count : {2, 3, 10, 200})
    check_with<m::AUC>(str_cat(text, " num_thresholds ", count),
                       with([&](m::AUCOptions& o) { o.num_thresholds = count; }), bit_data());
  for (const std::vector<double>& some :
       {std::vector<double>{0.5}, {0.2, 0.8}, {0.8, 0.2}, {0.0, 0.5, 1.0}, {0.3, 0.3}})
    check_with<m::AUC>(text + " thresholds " + list(some),
                       with([&](m::AUCOptions& o) { o.thresholds = some; }), bit_data());
  for (const char* weights : kWeights)
    check_with<m::AUC>(text + ", " + weights, base, bit_data(), weights);
  const std::vector<std::pair<std::string, std::vector<float>>> label_weights{
      {"None", {}},
      {"[1, 2, 3, 4]", {1, 2, 3, 4}},
      {"[0, 0, 1, 0]", {0, 0, 1, 0}},
      {"[0, 0, 0, 0]", {0, 0, 0, 0}}};
  const auto labels = [&](auto change) {
    return with([&](m::AUCOptions& o) {
      o.multi_label = true, o.num_labels = 4;
      change(o);
    });
  };
  for (const auto& [name, values] : label_weights)
    for (const char* weights : {"no weights", "[6]", "[6, 1]", "[6, 4]"})
      check_with<m::AUC>(
          str_cat(text, " multi_label ", name, ", ", weights),
          labels([&, &values = values](m::AUCOptions& o) { o.label_weights = values; }), bit_data(),
          weights);
  check_with<m::AUC>(text + " multi_label, thresholds", labels([](m::AUCOptions& o) {
                       o.thresholds = {0.25, 0.5};
                     }),
                     bit_data());
  Data logits = bit_data();
  for (Pair& pair : logits) pair.second = 6.0f * pair.second - 3.0f;
  check_with<m::AUC>(text + " from_logits", with([](m::AUCOptions& o) { o.from_logits = true; }),
                     logits);
  const Tensor rising{0.1f, 0.4f, 0.6f, 1.0f};
  check_with<m::AUC>(text + " of all true", base, single(dist::ones({4}), rising));
  check_with<m::AUC>(text + " of all false", base, single(dist::zeros({4}), rising));
  check_with<m::AUC>(text + " of nothing", base, nothing());
}

void area_cases() {
  for (const auto& [curve, shape] :
       {std::pair("ROC", m::AUCCurve::ROC), std::pair("PR", m::AUCCurve::PR)})
    for (const auto& [method, sum] :
         {std::pair("interpolation", Method::Interpolation),
          std::pair("minoring", Method::Minoring), std::pair("majoring", Method::Majoring)})
      area_cases_of(str_cat("auc ", curve, " ", method),
                    m::AUCOptions{.curve = shape, .summation_method = sum});
  check_with<m::AUC>("auc label_weights without multi_label",
                     m::AUCOptions{.label_weights = {1, 2, 3, 4}}, bit_data());
  check_with<m::AUC>("auc num_thresholds 1", m::AUCOptions{.num_thresholds = 1}, bit_data());
  check_with<m::AUC>("auc thresholds outside", m::AUCOptions{.thresholds = {1.5}}, bit_data());
  check_with<m::AUC>("auc of predictions outside", m::AUCOptions{},
                     single(Tensor{0.0f, 1.0f}, Tensor{0.5f, 1.5f}));
  check_with<m::AUC>(
      "auc at thresholds", m::AUCOptions{.num_thresholds = 5},
      single(Tensor{0.0f, 1.0f, 0.0f, 1.0f, 1.0f}, Tensor{0.0f, 0.25f, 0.5f, 0.75f, 1.0f}));
}

void score_cases() {
  using Average = m::FScoreAverage;
  for (const auto& [name, average] :
       {std::pair("None", Average::None), std::pair("micro", Average::Micro),
        std::pair("macro", Average::Macro), std::pair("weighted", Average::Weighted)})
    for (const std::optional<double> threshold :
         {std::optional<double>(), std::optional(0.3), std::optional(0.5), std::optional(1.0)})
      for (const char* weights : kColumns) {
        const std::string text =
            str_cat(name, " threshold ", threshold ? python(*threshold) : "None");
        for (double beta : {0.5, 1.0, 2.0})
          check_with<m::FBetaScore>(
              str_cat("fbeta ", text, " beta ", python(beta), ", ", weights),
              m::FBetaScoreOptions{.average = average, .beta = beta, .threshold = threshold},
              bit_data(), weights);
        check_with<m::F1Score>(str_cat("f1 ", text, ", ", weights),
                               m::F1ScoreOptions{.average = average, .threshold = threshold},
                               bit_data(), weights);
      }
  check_with<m::FBetaScore>("fbeta beta 0", m::FBetaScoreOptions{.beta = 0}, bit_data());
  check_with<m::FBetaScore>("fbeta threshold 0", m::FBetaScoreOptions{.threshold = 0.0},
                            bit_data());
  check_with<m::FBetaScore>("fbeta threshold 2", m::FBetaScoreOptions{.threshold = 2.0},
                            bit_data());
  const m::F1ScoreOptions f1;
  check_with<m::F1Score>("f1 of one axis", f1, single(dist::ones({3}), dist::ones({3})));
  const Tensor y({2, 2}, std::vector<float>{0, 1, 1, 0});
  check_with<m::F1Score>("f1 of equals", f1,
                         single(y, Tensor({2, 2}, std::vector<float>{0.5f, 0.5f, 0, 0})));
  check_with<m::F1Score>("f1 of negative predictions", f1,
                         single(y, Tensor({2, 2}, std::vector<float>{-2, -1, -1, -3})));
}

using Classes = std::vector<int64_t>;
std::string list(const Classes& values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}
std::string none_or(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : "None";
}
std::vector<std::optional<int64_t>> ignored_classes(std::vector<int64_t> values) {
  std::vector<std::optional<int64_t>> all{std::nullopt};
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

void axis_cases(int axis) {
  const std::string text = str_cat("axis ", axis);
  m::IoUOptions options{.num_classes = 4, .target_class_ids = {0, 2}};
  options.sparse_y_pred = false, options.axis = axis;
  check_with<m::IoU>("iou sparse_y_pred False " + text, options, id_data(), "[6]");
  options.sparse_y_true = false;
  check_with<m::IoU>("iou both False " + text, options, one_hot_data(), "[6]");
  check_with<m::IoU>("one hot iou " + text, options, one_hot_data());
  m::MeanIoUOptions mean{.num_classes = 4};
  mean.sparse_y_true = mean.sparse_y_pred = false, mean.axis = axis;
  check_with<m::MeanIoU>("one hot mean iou " + text, mean, one_hot_data());
  mean.ignore_class = 1;
  check_with<m::MeanIoU>("mean iou both False " + text + ", ignore_class", mean, one_hot_data());
}

void intersection_cases() {
  for (const Classes& targets : {Classes{0}, {1, 3}, {0, 1, 2, 3}, {3, 3}})
    for (const auto& ignored : ignored_classes({0, 3, -1, 255}))
      for (const char* weights : kSome)
        check_with<m::IoU>(
            str_cat("iou ", list(targets), " ignore_class ", none_or(ignored), ", ", weights),
            m::IoUOptions{.num_classes = 4, .target_class_ids = targets, .ignore_class = ignored},
            number_data(), weights);
  for (const auto& ignored : ignored_classes({1, 255}))
    check_with<m::MeanIoU>("mean iou ignore_class " + none_or(ignored),
                           m::MeanIoUOptions{.num_classes = 4, .ignore_class = ignored},
                           number_data());
  Data holes = number_data();
  for (auto& [y, p] : holes)
    y = where(equal(y, scalar_like(y, 2)), scalar_like(y, 255) * dist::ones_like(y), y);
  check_with<m::MeanIoU>("mean iou ignore_class 255 of 255",
                         m::MeanIoUOptions{.num_classes = 4, .ignore_class = 255}, holes);
  check_with<m::IoU>("iou of numbers too large",
                     m::IoUOptions{.num_classes = 3, .target_class_ids = {0, 1}}, number_data());
  check_with<m::IoU>("iou target class too large",
                     m::IoUOptions{.num_classes = 3, .target_class_ids = {3}}, number_data());
  const Tensor same = cast(dist::ones({3}), DType::Int32);
  check_with<m::MeanIoU>("mean iou of one class", m::MeanIoUOptions{.num_classes = 4},
                         single(same, same));
  for (int axis : {-1, 1}) axis_cases(axis);
  Data rows = one_hot_data(), mixed = one_hot_data();
  for (auto& [y, p] : rows) y = dist::stack({y, y}), p = dist::stack({p, p});
  m::IoUOptions options{.num_classes = 6, .target_class_ids = {0, 2}};
  options.sparse_y_true = options.sparse_y_pred = false, options.axis = 1;
  check_with<m::IoU>("one hot iou axis 1 of three axes", options, rows);
  for (auto& [y, p] : mixed) p = class_ids({6}, 4, 10);
  options = {.num_classes = 4, .target_class_ids = {0, 2}};
  options.sparse_y_true = false;
  check_with<m::IoU>("one hot iou sparse_y_pred", options, mixed);
  for (const Classes& targets : {Classes{0, 1}, {0}, {1}})
    for (double threshold : {0.5, 0.25, 0.75, 0.0, 1.0, 2.0})
      for (const char* weights : {"no weights", "[6, 4]"})
        check_with<m::BinaryIoU>(
            str_cat("binary iou ", list(targets), " threshold ", python(threshold), ", ", weights),
            m::BinaryIoUOptions{.target_class_ids = targets, .threshold = threshold}, bit_data(),
            weights);
  check_with<m::BinaryIoU>("binary iou at the threshold", m::BinaryIoUOptions{}, near_half());
}

template <typename M>
void mean_cases_of(const std::string& name, const Data& data) {
  const auto make = [] { return M(); };
  for (const char* weights : {"no weights", "[6]", "[6, 1]", "a number"})
    check(name + " " + weights, make, data, weights);
  Data whole, none;
  for (const auto& [y, p] : data) {
    whole.push_back(
        {cast(y, DType::Int32), cast(is_floating(p.dtype()) ? round(p) : p, DType::Int32)});
    none.push_back({y.rows(0, 0), p.rows(0, 0)});
  }
  check(name + " of integers", make, whole);
  check(name + " of nothing", make, none);
}

void mean_class_cases() {
  mean_cases_of<m::MeanSquaredError>("MeanSquaredError", real_data());
  mean_cases_of<m::MeanAbsoluteError>("MeanAbsoluteError", real_data());
  mean_cases_of<m::MeanAbsolutePercentageError>("MeanAbsolutePercentageError", real_data());
  mean_cases_of<m::MeanSquaredLogarithmicError>("MeanSquaredLogarithmicError", real_data());
  mean_cases_of<m::LogCoshError>("LogCoshError", real_data());
  mean_cases_of<m::RootMeanSquaredError>("RootMeanSquaredError", real_data());
  mean_cases_of<m::CosineSimilarity>("CosineSimilarity", real_data());
  mean_cases_of<m::KLDivergence>("KLDivergence", one_hot_data());
  mean_cases_of<m::Poisson>("Poisson", one_hot_data());
  mean_cases_of<m::Hinge>("Hinge", bit_data());
  mean_cases_of<m::SquaredHinge>("SquaredHinge", bit_data());
  mean_cases_of<m::CategoricalHinge>("CategoricalHinge", one_hot_data());
  mean_cases_of<m::BinaryCrossentropy>("BinaryCrossentropy", bit_data());
  mean_cases_of<m::CategoricalCrossentropy>("CategoricalCrossentropy", one_hot_data());
  mean_cases_of<m::SparseCategoricalCrossentropy>("SparseCategoricalCrossentropy", id_data());
  mean_cases_of<m::Accuracy>("Accuracy", number_data());
  mean_cases_of<m::BinaryAccuracy>("BinaryAccuracy", bit_data());
  mean_cases_of<m::CategoricalAccuracy>("CategoricalAccuracy", one_hot_data());
  mean_cases_of<m::SparseCategoricalAccuracy>("SparseCategoricalAccuracy", id_data());
  mean_cases_of<m::TopKCategoricalAccuracy>("TopKCategoricalAccuracy", one_hot_data());
  mean_cases_of<m::SparseTopKCategoricalAccuracy>("SparseTopKCategoricalAccuracy", id_data());
}

void crossentropy_cases() {
  using Categorical = m::CategoricalCrossentropyMetricOptions;
  using SparseOptions = m::SparseCrossentropyMetricOptions;
  for (int axis : {0, 1, -1, -2, 2}) {
    check_with<m::CosineSimilarity>(str_cat("cosine axis ", axis),
                                    m::CosineSimilarityMetricOptions{.axis = axis}, real_data());
    check_with<m::CategoricalCrossentropy>(str_cat("categorical axis ", axis),
                                           Categorical{.axis = axis}, one_hot_data());
    check_with<m::CategoricalCrossentropy>(str_cat("categorical axis ", axis, ", logits"),
                                           Categorical{.from_logits = true, .axis = axis},
                                           one_hot_data());
  }
  for (const auto& [name, smoothing] :
       {std::pair("0", 0.0), std::pair("0.1", 0.1), std::pair("1", 1.0), std::pair("1.5", 1.5)})
    for (bool logits : {false, true}) {
      const std::string text = str_cat("label_smoothing ", name, logits ? ", logits" : "");
      check_with<m::BinaryCrossentropy>(
          "binary " + text,
          m::CrossentropyMetricOptions{.from_logits = logits, .label_smoothing = smoothing},
          bit_data());
      check_with<m::CategoricalCrossentropy>(
          "categorical " + text, Categorical{.from_logits = logits, .label_smoothing = smoothing},
          one_hot_data());
    }
  for (int64_t ignored : {0, 2, -1})
    for (bool logits : {false, true})
      for (const char* weights : kSome)
        check_with<m::SparseCategoricalCrossentropy>(
            str_cat("sparse ignore_class ", ignored, logits ? ", logits" : "", ", ", weights),
            SparseOptions{.from_logits = logits, .ignore_class = ignored}, id_data(), weights);
  Data holes = id_data();
  for (auto& [y, p] : holes) y = where(equal(y, scalar_like(y, 2)), dist::ones_like(y) * -1, y);
  check_with<m::SparseCategoricalCrossentropy>("sparse ignore_class of -1",
                                               SparseOptions{.ignore_class = -1}, holes);
}

void accuracy_cases() {
  for (double threshold : {0.5, 0.25, 0.9, 0.0, 1.0})
    check_with<m::BinaryAccuracy>("binary accuracy threshold " + python(threshold),
                                  m::BinaryAccuracyOptions{.threshold = threshold}, bit_data());
  check_with<m::BinaryAccuracy>("binary accuracy at the threshold", m::BinaryAccuracyOptions{},
                                near_half());
  check_with<m::BinaryAccuracy>("binary accuracy threshold 2",
                                m::BinaryAccuracyOptions{.threshold = 2}, bit_data());
  for (int k : {1, 2, 4, 5, 0}) {
    check_with<m::TopKCategoricalAccuracy>(str_cat("top_k ", k), m::TopKOptions{.k = k},
                                           one_hot_data(), "[6]");
    check_with<m::SparseTopKCategoricalAccuracy>(str_cat("sparse top_k ", k),
                                                 m::SparseTopKOptions{.k = k}, id_data(), "[6]");
  }
  Data sorted = id_data();
  for (auto& [y, p] : sorted) {
    y = class_ids({6}, 4, 7);
    p = cast(argsort(p, -1, dist::SortDirection::Descending), DType::Int32);
  }
  for (int k : {1, 2, 4})
    check_with<m::SparseTopKCategoricalAccuracy>(
        str_cat("sparse top_k ", k, " from_sorted_ids"),
        m::SparseTopKOptions{.k = k, .from_sorted_ids = true}, sorted);
  const Tensor classes{int32_t(0), int32_t(1), int32_t(2), int32_t(3)};
  const Tensor equals = dist::ones({4, 4}) * 0.5f;
  const Tensor nan = equals * std::numeric_limits<float>::quiet_NaN();
  const m::SparseTopKOptions two{.k = 2};
  const auto sparse = [] { return m::SparseCategoricalAccuracy(); };
  check_with<m::SparseTopKCategoricalAccuracy>("top_k of equals", two, single(classes, equals));
  check("sparse accuracy of equals", sparse, single(classes, equals));
  check_with<m::SparseTopKCategoricalAccuracy>("top_k of nan", two, single(classes, nan));
  check("sparse accuracy of nan", sparse, single(classes, nan));
  const Tensor unit({2, 4}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0});
  check("sparse accuracy of floats", sparse, single(Tensor{0.0f, 1.7f}, unit));
  const auto plain = [] { return m::Accuracy(); };
  check("accuracy of floats", plain, single(Tensor{0.0f, 1.7f}, Tensor{0.0f, 1.7f}));
  check("accuracy of columns", plain,
        single(Tensor({2, 1}, std::vector<int64_t>{0, 1}), Tensor{int64_t(0), int64_t(1)}));
  check("sparse accuracy too large", sparse, single(Tensor{int64_t(7), int64_t(1)}, unit));
}

void plain_mean_cases() {
  const std::vector<std::pair<std::string, Tensor>> weights{{"no weights", Tensor()},
                                                            {"a number", Tensor(2.0f)},
                                                            {"[3]", Tensor{1.0f, 2.0f, 0.5f}},
                                                            {"[1]", Tensor{2.0f}},
                                                            {"zeros", dist::zeros({3})}};
  const Tensor values{1.0f, 2.0f, 6.0f};
  for (const auto& [name, weight] : weights) {
    run_case("metric options/Mean " + name, [&, &weight = weight] {
      m::Mean metric;
      metric.update_state(values, weight);
      return figures(metric.result());
    });
    run_case("metric options/Sum " + name, [&, &weight = weight] {
      m::Sum metric;
      metric.update_state(values, weight);
      return figures(metric.result());
    });
  }
}

}  // namespace

void metric_option_cases() {
  confusion_cases();
  area_cases();
  score_cases();
  intersection_cases();
  mean_class_cases();
  crossentropy_cases();
  accuracy_cases();
  plain_mean_cases();
}

}  // namespace comparison
