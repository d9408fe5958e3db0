. /srv/git.sh
reads https://public.test
works "plain files" git clone -q https://public.test/plain/repo.git plain
refused "clone" git clone -q https://other.test/team/repo.git there
refused "shallow clone" git clone -q --depth 1 https://other.test/team/repo.git there
refused "ls-remote" git ls-remote https://other.test/team/repo.git
refused "fetch" git -C cloned fetch -q https://other.test/team/repo.git main
refused "push" git -C cloned push -q https://other.test/team/shared.git HEAD:refs/heads/elsewhere-program-git
refused "another port" git clone -q https://public.test:8443/team/repo.git there
refused "a submodule" git -C cloned -c protocol.allow=always submodule --quiet add https://other.test/team/repo.git sub
