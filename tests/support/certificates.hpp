#pragma once
/// Certificate authorities and certificates for tests, as PEM files of a temporary directory.

#include <tests/support/temporary_directory.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#if DISTRIBUTE_HAS_OPENSSL
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

/// Paths, as DISTRIBUTE_TLS_CERT and DISTRIBUTE_TLS_KEY want them.
struct CertificateFiles {
  std::string certificate, key;
};

/// An authority of its own, with a fresh key.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "authority")
      : name_(name), key_(::EVP_EC_gen("P-256"), &::EVP_PKEY_free) {
    certificate_ = make(name, key_.get(), "CA:TRUE", "", 3600);
    write_certificate(file(), certificate_.get());
  }

  /// For DISTRIBUTE_TLS_CA.
  std::string file() const { return directory_ / (name_ + "_ca.pem"); }

  /// For a host such as "IP:127.0.0.1" or "DNS:host-a", valid for `seconds` from now; negative: it
  /// has expired.
  CertificateFiles issue(const std::string& name, const std::string& host = "IP:127.0.0.1",
                         long seconds = 3600) const {
    const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(::EVP_EC_gen("P-256"),
                                                                    &::EVP_PKEY_free);
    const auto certificate = make(name, key.get(), "CA:FALSE", host, seconds);
    const CertificateFiles files{directory_ / (name + ".pem"), directory_ / (name + ".key")};
    write_certificate(files.certificate, certificate.get());
    std::FILE* out = open(files.key);
    ::PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    return files;
  }

 private:
  using CertificatePtr = std::unique_ptr<X509, decltype(&::X509_free)>;

  static std::FILE* open(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) throw std::runtime_error("cannot write " + path);
    return file;
  }
  static void write_certificate(const std::string& path, X509* certificate) {
    std::FILE* out = open(path);
    ::PEM_write_X509(out, certificate);
    std::fclose(out);
  }
  static void extend(X509* certificate, X509* issuer, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    ::X509_add_ext(certificate, extension, -1);
    ::X509_EXTENSION_free(extension);
  }
  CertificatePtr make(const std::string& name, EVP_PKEY* key, const char* basic,
                      const std::string& host, long seconds) const {
    CertificatePtr made(::X509_new(), &::X509_free);
    X509* issuer = certificate_ ? certificate_.get() : made.get();
    ::X509_set_version(made.get(), 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), ++serial_);
    ::X509_gmtime_adj(X509_getm_notBefore(made.get()), seconds < 0 ? 10 * seconds : -60);
    ::X509_gmtime_adj(X509_getm_notAfter(made.get()), seconds);
    ::X509_set_pubkey(made.get(), key);
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    ::X509_set_issuer_name(made.get(), ::X509_get_subject_name(issuer));
    extend(made.get(), issuer, NID_basic_constraints, basic);
    if (!host.empty()) extend(made.get(), issuer, NID_subject_alt_name, host);
    ::X509_sign(made.get(), key_.get(), ::EVP_sha256());
    return made;
  }

  const TemporaryDirectory directory_;
  const std::string name_;
  mutable long serial_ = 0;
  std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key_;
  CertificatePtr certificate_{nullptr, &::X509_free};
};
#endif
