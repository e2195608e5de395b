#pragma once
/// Checks the type of an exception and a part of its message at once.

#include <tests/support/catch.hpp>

template <typename Exception, typename Call>
void check_throws(const Call& call, const std::string& part) {
  INFO("expected in the message: " << part);
  try {
    call();
    FAIL_CHECK("nothing was thrown");
  } catch (const Exception& error) {
    CHECK_THAT(error.what(), Catch::Matchers::Contains(part));
  } catch (const std::exception& error) {
    FAIL_CHECK("another type was thrown: " << error.what());
  }
}

/// CHECK_THROWS_AS that also looks for a part of the message.
#define CHECK_THROWS_SAYING(expression, Exception, part) \
  check_throws<Exception>([&] { static_cast<void>(expression); }, part)
