#include <distribute/base/detail/type_names.hpp>

#include <tests/support/catch.hpp>

#include <vector>

using distribute::base_internal::class_name;
using distribute::base_internal::readable_type;

namespace {
struct Hidden {};
template <typename T>
struct Box {
  struct Lid {};
};
}  // namespace

TEST_CASE("messages name types as the source does", "[base][type_names]") {
  CHECK(readable_type("FiiE") == "int (int)");
  CHECK(readable_type(typeid(void(const std::string&)).name()) == "void (std::string const&)");
  CHECK(readable_type("no type") == "no type");
}

TEST_CASE("the name of a class is without what is around it", "[base][type_names]") {
  CHECK(class_name(typeid(Hidden)) == "Hidden");
  struct Local {};
  CHECK(class_name(typeid(Local)) == "Local");
  CHECK(class_name(typeid(Box<std::vector<int>>)) == "Box");
  CHECK(class_name(typeid(Box<void(int)>::Lid)) == "Lid");
  CHECK(class_name(typeid(int)) == "int");
}
