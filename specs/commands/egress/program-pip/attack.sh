install() {
    /usr/bin/python3 -m pip --disable-pip-version-check --retries 1 install -q --no-cache-dir --target "$1" \
        --index-url "https://$2/simple/" bailiwick-hello 2>&1
}
install "$PWD/here" public.test && PYTHONPATH=$PWD/here /usr/bin/python3 -m bailiwick_hello
if said=$(install "$PWD/there" other.test); then echo "ESCAPED $said"; else echo "REFUSED $said"; fi
