#pragma once
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/sql_rows.hpp>
#include <distribute/datasets/tables.hpp>

namespace distribute::data {

namespace data_internal {

class SqlNode final : public CopiedNode<SqlNode, Node> {
 public:
  explicit SqlNode(SqlQuery query) : query_(std::move(query)) {}
  const char* kind() const override { return "Sql"; }
  ElementSpec element_spec() const override {
    ElementSpec spec;
    for (const DType type : query_.types) {
      spec.push_back({.dtype = type});
      if (type == DType::UInt8) spec.back().shape = {-1};
    }
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass&) const override { return sql_rows(query_); }

 private:
  SqlQuery query_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset sql_dataset(const std::string& driver_name,
                                      const std::string& data_source_name, const std::string& query,
                                      std::vector<DType> output_types) {
  if (driver_name != "sqlite")
    throw InvalidArgumentError("sql_dataset: there is no driver \"" + driver_name +
                               "\", only \"sqlite\"");
  if (output_types.empty()) throw InvalidArgumentError("sql_dataset: there are no output_types");
  for (const DType type : output_types)
    if (type == DType::BFloat16 || type == DType::Float16)
      throw InvalidArgumentError(
          str_cat("sql_dataset: output_types cannot be ", name_of(type),
                  "; they are Int32, Int64, Float32, Bool, and UInt8 for texts and blobs"));
  return Dataset(std::make_shared<data_internal::SqlNode>(
      data_internal::SqlQuery{data_source_name, query, std::move(output_types)}));
}

}  // namespace distribute::data
