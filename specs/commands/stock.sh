# Makes what the servers of the pretended world have for git and pip, in the folder that is the first word: a repository as
# plain files, and an index with one package.
set -e
cd "$1"
export HOME="$1" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE="2020-01-01T00:00:00Z" GIT_COMMITTER_DATE="2020-01-01T00:00:00Z"
/usr/bin/git init -q -b main source
echo "hello from git" > source/README
/usr/bin/git -C source add README
/usr/bin/git -C source -c user.name=test -c user.email=test@public.test commit -q -m "Begin"
mkdir team
/usr/bin/git clone -q --bare source team/repo.git
/usr/bin/git -C team/repo.git update-server-info
mkdir -p simple/bailiwick-hello packages
/usr/bin/python3 -I - <<'WHEEL'
import zipfile
name = "bailiwick_hello-1.0.dist-info"
files = {
    "bailiwick_hello.py": "print('hello from pip')\n",
    f"{name}/METADATA": "Metadata-Version: 2.1\nName: bailiwick-hello\nVersion: 1.0\n",
    f"{name}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
files[f"{name}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{name}/RECORD"])
with zipfile.ZipFile("packages/bailiwick_hello-1.0-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
WHEEL
echo '<!DOCTYPE html><a href="/packages/bailiwick_hello-1.0-py3-none-any.whl">bailiwick_hello-1.0-py3-none-any.whl</a>' \
    > simple/bailiwick-hello/index.html
