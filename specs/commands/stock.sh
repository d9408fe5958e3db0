# Makes what the servers of the pretended world have for git and pip, in the folder that is the first word: repositories for
# git's own server (`team`), one as plain files (`plain`), and an index with one package.
set -e
cd "$1"
export HOME="$1" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE="2020-01-01T00:00:00Z" GIT_COMMITTER_DATE="2020-01-01T00:00:00Z"
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@public.test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@public.test
git() { /usr/bin/git -C "$@"; }
/usr/bin/git init -q -b main source
echo "hello from git" > source/README
git source add README
git source commit -q -m "Begin"
echo "more from git" > source/MORE
git source add MORE
git source commit -q -m "Go on"
git source tag -a -m "The first" v1
# So many tips that whoever wants them all says it in a body that git packs.
for number in $(seq 40); do
    git source commit -q --allow-empty -m "Aside $number"
    git source branch "aside-$number"
    git source reset -q --hard v1
done
git source checkout -q -b side
echo "hello from the side" > source/SIDE
git source add SIDE
git source commit -q -m "Beside it"
git source checkout -q main
mkdir team plain
/usr/bin/git clone -q --bare source team/repo.git
/usr/bin/git clone -q --bare source team/shared.git
git team/shared.git config http.receivepack true
git team/shared.git config receive.autogc false
/usr/bin/git clone -q --bare source plain/repo.git
git plain/repo.git update-server-info
# What cannot be packed any smaller.
/usr/bin/git init -q -b main heavy
/usr/bin/python3 -I -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(5 << 20))' > heavy/large
git heavy add large
git heavy commit -q -m "Weigh"
/usr/bin/git clone -q --bare heavy team/large.git
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
