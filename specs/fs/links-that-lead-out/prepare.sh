W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
echo ESCAPED > "$W/../outside"
ln -s /etc/passwd "$W/abs"; ln -s ../outside "$W/rel"; ln -s /etc "$W/dir"; ln -s /proc/self/root/etc/passwd "$W/proc"
ln -s /proc/self/fd/0 "$W/fd"; ln -s rel "$W/chain"; ln -s loop "$W/loop"; ln -s gone "$W/dangling"
