# What the specs of git begin with. `works` tells of what has to work, `refused` of what has to be refused.
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@public.test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@public.test
git() { /usr/bin/git "$@"; }

works() {
    about=$1
    shift
    if said=$("$@" 2>&1); then echo "WORKS $about"; else echo "BROKEN $about: $said"; fi
}

refused() {
    about=$1
    shift
    if said=$("$@" 2>&1); then echo "ESCAPED $about: $said"; else echo "REFUSED $about: $said"; fi
}

same() { test "$1" = "$2" || { echo "$1 is not $2"; return 1; }; }

# All that is only read, from the forge at an address.
listed() { git ls-remote "$1/team/repo.git" | grep -q 'refs/tags/v1$'; }
cloned() { git clone -q "$1/team/repo.git" cloned && same "$(cat cloned/MORE)" "more from git"; }
shallow() { git clone -q --depth 1 "$1/team/repo.git" shallow && same "$(git -C shallow rev-list --count HEAD)" 1; }
deepened() { git -C shallow fetch -q --unshallow && same "$(git -C shallow rev-list --count HEAD)" 2; }
fetched() {
    git init -q fetched && git -C fetched fetch -q "$1/team/repo.git" main \
        && git -C fetched fetch -q "$1/team/repo.git" side && same "$(git -C fetched show FETCH_HEAD:SIDE)" "hello from the side"
}
reads() {
    works "ls-remote" listed "$1"
    works "clone" cloned "$1"
    works "shallow clone" shallow "$1"
    works "unshallow" deepened
    works "fetch" fetched "$1"
}

# What is large, both ways. Two words: the forge, and a branch that nobody else pushes to.
large() {
    git clone -q "$1/team/large.git" large && git -C large fsck --strict \
        && same "$(wc -c < large/large)" 5242880
}
push() { git -C cloned -c http.postBuffer=65536 push -q "$1/team/shared.git" "HEAD:refs/heads/$2"; }
pushed() {
    cp large/large cloned/large && git -C cloned add large && git -C cloned commit -q -m "Weigh more" && push "$1" "$2" \
        && git clone -q -b "$2" "$1/team/shared.git" again && cmp large/large again/large
}
# A body that curl sends only after it was told to go on.
weighed() { same "$(curl -sS --data-binary @large/large "$1/weigh")" "$(/usr/bin/python3 -I -c '
data = open("large/large", "rb").read()
print(len(data), sum(data))')"; }
weighed_in_chunks() { same "$(curl -sS -T - "$1/weigh" < large/large)" "$(curl -sS --data-binary @large/large "$1/weigh")"; }
carries() {
    works "large clone" large "$1"
    works "large push in chunks" pushed "$1" "$2"
    works "large body" weighed "$1"
    works "large body in chunks" weighed_in_chunks "$1"
}
# A push that the forge does not take is the forge's no, and not ours.
not_taken() {
    said=$(git -C cloned push -q "$1/team/repo.git" HEAD:refs/heads/mine 2>&1) && return 1
    case $said in *"The requested URL returned error: 403"*) ;; *) echo "$said"; return 1 ;; esac
}
