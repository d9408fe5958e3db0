import os
import urllib.error
import urllib.request


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.read().decode()[:60]
    except urllib.error.URLError as error:
        return str(error.reason).rsplit(": ", 1)[-1].strip(")")


works("https", '{"a": [1, 2]}', lambda: fetch("https://public.test/json"))
attempt("https elsewhere", "host-not-allowed", lambda: fetch("https://other.test/json"))
attempt("http elsewhere", "host-not-allowed", lambda: fetch("http://other.test/json"))
attempt("another port", "host-not-allowed", lambda: fetch("https://public.test:8443/json"))
attempt("in the clear", "host-not-allowed", lambda: fetch("http://public.test/json"))
verdict()
