. /srv/git.sh
reads https://sub.public.test
carries https://sub.public.test git-large-with-an-authority
works "a push that the forge refuses" not_taken https://sub.public.test
refused "push" git -C cloned push -q https://other.test/team/shared.git HEAD:refs/heads/elsewhere-git-large-with-an-authority
