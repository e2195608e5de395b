#pragma once
/// While it lives, this process has a German locale: a decimal comma in C, and a comma and points
/// between thousands in C++.

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <string>

#include <tests/support/temporary_directory.hpp>

class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    std::locale::global(std::locale(std::locale::classic(), new Punctuation));
    const char* const path = std::getenv("LOCPATH");
    const std::string made =
        "localedef -i de_DE -f UTF-8 " + (directory_ / "de_DE.UTF-8") + " >/dev/null 2>&1";
    if (!std::setlocale(LC_ALL, "de_DE.UTF-8") && std::system(made.c_str()) == 0) {
      ::setenv("LOCPATH", directory_.path().c_str(), 1);
      std::setlocale(LC_ALL, "de_DE.UTF-8");
      path ? ::setenv("LOCPATH", path, 1) : ::unsetenv("LOCPATH");
    }
  }
  CommaLocale(const CommaLocale&) = delete;
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, before_.c_str());
  }
  /// Whether C has the comma: not where neither the locale nor its sources are installed.
  bool in_c() const { return std::localeconv()->decimal_point[0] == ','; }

 private:
  struct Punctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  TemporaryDirectory directory_;
  std::string before_;
};
