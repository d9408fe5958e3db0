. /srv/git.sh
reads https://public.test
carries https://public.test git-large
works "a push that the forge refuses" not_taken https://public.test
refused "push" git -C cloned push -q https://other.test/team/shared.git HEAD:refs/heads/elsewhere-git-large
