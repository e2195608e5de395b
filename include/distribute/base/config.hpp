#pragma once
/// The version of the library, the place where its bodies are compiled, and checks of the compiler
/// and its macros.

// A missing include ends the compilation at once; after an #error many more errors would follow.
#if __cplusplus < 202002L
#define DISTRIBUTE_STOP "distribute needs C++20 or later: compile with -std=c++20"
#include DISTRIBUTE_STOP
#endif
// The umbrella headers undefine such macros; see base/detail/macros_aside.inc.
#if defined(slots) || defined(signals) || defined(emit) || defined(None) || defined(Bool) || \
    defined(Status) || defined(Success) || defined(Always)
#define DISTRIBUTE_STOP                                                      \
  "slots, None or Bool is a macro of Qt or X11: include an umbrella header " \
  "(distribute/strategy.hpp)"
#include DISTRIBUTE_STOP
#endif

/// In a program of one file bodies come inline with an umbrella header such as
/// <distribute/strategy.hpp>. A program of several files defines DISTRIBUTE_SEPARATE_COMPILATION in
/// all of them, and one file includes <distribute/impl/src.hpp>.
#ifdef DISTRIBUTE_SEPARATE_COMPILATION
#define DISTRIBUTE_INLINE
#define DISTRIBUTE_FORM separate
#else
#define DISTRIBUTE_INLINE inline
#define DISTRIBUTE_FORM header_only
#endif

#define DISTRIBUTE_VERSION_MAJOR 0
#define DISTRIBUTE_VERSION_MINOR 1
#define DISTRIBUTE_VERSION_PATCH 0

/// Objects of two forms or two versions in one program do not link. Each object defines one symbol,
/// in a COMDAT group that is named after its form and version: of equal groups the linker keeps
/// one, of different ones all, and then the symbol is defined twice.
#if defined(__ELF__) && defined(__GNUC__) && !defined(__clang__)  // Clang's LTO knows no .ifndef
#define DISTRIBUTE_MIXED \
  "distribute_is_header_only_in_one_object_and_not_in_another_or_of_two_versions"
#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
#define DISTRIBUTE_RELEASE_TEXT             \
  DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MAJOR) \
  "_" DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MINOR) "_" DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_PATCH)
// clang-format off
__asm__(".ifndef " DISTRIBUTE_MIXED "\n"  // link-time optimization assembles several objects as one
        ".pushsection .rodata.distribute_form,\"aG\",%progbits,"
        "distribute_" DISTRIBUTE_TEXT(DISTRIBUTE_FORM) "_" DISTRIBUTE_RELEASE_TEXT ",comdat\n"
        ".globl " DISTRIBUTE_MIXED "\n"
        DISTRIBUTE_MIXED ": .byte 0\n"
        ".popsection\n"
        ".endif\n");
// clang-format on
#undef DISTRIBUTE_RELEASE_TEXT
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF
#undef DISTRIBUTE_MIXED
#endif
#undef DISTRIBUTE_FORM

namespace distribute {

#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
/// Version, such as "0.1.0".
/// Source  tf.version.VERSION
inline constexpr const char* kVersion =
    DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MAJOR) "." DISTRIBUTE_TEXT(
        DISTRIBUTE_VERSION_MINOR) "." DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_PATCH);
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF

}  // namespace distribute

/// Text for users whose program was compiled without an optional library: DISTRIBUTE_GET_<NAME>
/// names the flags if the library's headers are installed, else its Debian package.
#define DISTRIBUTE_GET_BY_FLAGS(name, package, libraries)                                       \
  package " is installed, so compile with -DDISTRIBUTE_HAS_" name "=1 and link with " libraries \
          " (scripts/build_library.sh writes all such flags)"
#define DISTRIBUTE_GET_BY_PACKAGE(package) "install " package " and build again"

#if __has_include(<openssl/ssl.h>)
#define DISTRIBUTE_GET_OPENSSL DISTRIBUTE_GET_BY_FLAGS("OPENSSL", "libssl-dev", "-lssl -lcrypto")
#else
#define DISTRIBUTE_GET_OPENSSL DISTRIBUTE_GET_BY_PACKAGE("libssl-dev")
#endif
#if __has_include(<jpeglib.h>)
#define DISTRIBUTE_GET_JPEG DISTRIBUTE_GET_BY_FLAGS("JPEG", "libjpeg-dev", "-ljpeg")
#else
#define DISTRIBUTE_GET_JPEG DISTRIBUTE_GET_BY_PACKAGE("libjpeg-dev")
#endif
#if __has_include(<png.h>)
#define DISTRIBUTE_GET_PNG DISTRIBUTE_GET_BY_FLAGS("PNG", "libpng-dev", "-lpng")
#else
#define DISTRIBUTE_GET_PNG DISTRIBUTE_GET_BY_PACKAGE("libpng-dev")
#endif
#if __has_include(<curl/curl.h>)
#define DISTRIBUTE_GET_CURL DISTRIBUTE_GET_BY_FLAGS("CURL", "libcurl4-openssl-dev", "-lcurl")
#else
#define DISTRIBUTE_GET_CURL DISTRIBUTE_GET_BY_PACKAGE("libcurl4-openssl-dev")
#endif
#if __has_include(<pugixml.hpp>)
#define DISTRIBUTE_GET_PUGIXML DISTRIBUTE_GET_BY_FLAGS("PUGIXML", "libpugixml-dev", "-lpugixml")
#else
#define DISTRIBUTE_GET_PUGIXML DISTRIBUTE_GET_BY_PACKAGE("libpugixml-dev")
#endif
#if __has_include(<hdf5/serial/hdf5.h>)
#define DISTRIBUTE_GET_HDF5 \
  DISTRIBUTE_GET_BY_FLAGS("HDF5", "libhdf5-dev", "the flags of pkg-config hdf5-serial")
#else
#define DISTRIBUTE_GET_HDF5 DISTRIBUTE_GET_BY_PACKAGE("libhdf5-dev")
#endif
#if __has_include(<zip.h>)
#define DISTRIBUTE_GET_LIBZIP DISTRIBUTE_GET_BY_FLAGS("LIBZIP", "libzip-dev", "-lzip")
#else
#define DISTRIBUTE_GET_LIBZIP DISTRIBUTE_GET_BY_PACKAGE("libzip-dev")
#endif
#if __has_include(<farmhash.h>)
#define DISTRIBUTE_GET_FARMHASH DISTRIBUTE_GET_BY_FLAGS("FARMHASH", "libfarmhash-dev", "-lfarmhash")
#else
#define DISTRIBUTE_GET_FARMHASH DISTRIBUTE_GET_BY_PACKAGE("libfarmhash-dev")
#endif
#if __has_include(<pcre2.h>)
#define DISTRIBUTE_GET_PCRE2 DISTRIBUTE_GET_BY_FLAGS("PCRE2", "libpcre2-dev", "-lpcre2-8")
#else
#define DISTRIBUTE_GET_PCRE2 DISTRIBUTE_GET_BY_PACKAGE("libpcre2-dev")
#endif
#if __has_include(<sentencepiece_processor.h>)
#define DISTRIBUTE_GET_SENTENCEPIECE \
  DISTRIBUTE_GET_BY_FLAGS("SENTENCEPIECE", "libsentencepiece-dev", "-lsentencepiece")
#else
#define DISTRIBUTE_GET_SENTENCEPIECE DISTRIBUTE_GET_BY_PACKAGE("libsentencepiece-dev")
#endif
