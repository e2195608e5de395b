#!/usr/bin/env bash
# Prints the packages that own the programs' shared libraries (those of the C library are everywhere),
# and the certificate authorities, without which no https:// store is trusted.
# Usage: runtime_packages.sh PROGRAM...
set -euo pipefail
{
  echo ca-certificates
  ldd "$@" | awk '$3 ~ /^\// {print $3}' | sort -u | xargs -n 1 readlink -f |
    { xargs dpkg -S 2> /dev/null || true; } | cut -d: -f1
} | sort -u
