. /srv/git.sh
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
reads https://xn--bcher-kva.test
carries https://xn--bcher-kva.test git-without-proxies-with-an-authority
works "a push that the forge refuses" not_taken https://xn--bcher-kva.test
refused "clone" git clone -q https://other.test/team/repo.git there
refused "push" git -C cloned push -q https://other.test/team/shared.git HEAD:refs/heads/elsewhere-git-without-proxies-with-an-authority
refused "under another name" git -c http.curloptResolve="other.test:443:$(/usr/bin/python3 -I -c 'import socket; print(socket.gethostbyname("xn--bcher-kva.test"))')" ls-remote https://other.test/team/repo.git
