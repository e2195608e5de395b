#!/usr/bin/env python3
"""One signed S3 request, for setting test servers up; shares no code with the library's signer.

Usage: s3_request.py METHOD URL      (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION)
Prints the answer's body; exit status 1 unless it is 2xx.
"""
import datetime
import hashlib
import hmac
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signed(method, url):
    parts = urllib.parse.urlsplit(url)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    region = os.environ.get("AWS_REGION", "us-east-1")
    empty = hashlib.sha256(b"").hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": empty, "x-amz-date": now}
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = "\n".join([method, parts.path or "/", parts.query, lines, names, empty])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"]).encode()
    for part in scope.split("/"):
        key = mac(key, part)
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={os.environ['AWS_ACCESS_KEY_ID']}/{scope},"
                                f"SignedHeaders={names},Signature={mac(key, text).hex()}")
    return urllib.request.Request(url, method=method, headers=headers)


def main():
    try:
        with urllib.request.urlopen(signed(sys.argv[1], sys.argv[2]), timeout=20) as answer:
            sys.stdout.write(answer.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        sys.exit(f"{sys.argv[1]} {sys.argv[2]}: {error.code} {error.read()[:300]!r}")
    except urllib.error.URLError as error:
        sys.exit(f"{sys.argv[1]} {sys.argv[2]}: {error.reason}")


if __name__ == "__main__":
    main()
